# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring parts of a plan to a host in one visit: find all that would happen, refuse, or do it."""

from __future__ import annotations

from dataclasses import replace

from . import choose, dkms, failures, files, kernels, keyring, refuse
from .dkms import Builder
from .files import File
from .ledger import Ledger
from .manager import Manager
from .model import Change, Installed, Outcome, PackageError, Part, Request, Transaction, Wanted
from .survey import Order, Survey


class Planner:
    """Needs a manager that has looked at the repositories. `warnings` are for the operator."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._manager = survey.manager
        self._order = survey.order
        self.warnings: list[str] = []

    def plan(self) -> tuple[Request, Transaction]:
        """What to ask for and what that does; PackageError for what is refused."""
        request, found = self._without_conflicts(self._request())
        request, found = self._with_headers(request, found)
        leftovers = self._leftovers(request, found)
        if leftovers:
            request = self._more(request, remove=leftovers)
            found = self._manager.simulate(request)
        self._refuse(found)
        return request, found

    def _leftovers(self, request: Request, found: Transaction) -> list[str]:
        """Packages of ours that nothing needs any more: only what goes or moves leaves some."""
        if not any(change.before for change in found.changes):
            return []
        return self._manager.leftovers(request, self._survey.brought())

    def _request(self) -> Request:
        survey, manager = self._survey, self._manager
        have = survey.packages
        install: list[Wanted] = []
        for part in self._order.parts:
            picked, warnings = choose.pick(part, have, survey.others(part), manager.versions)
            brought = [name for name in survey.book(part).packages if name in have]
            picked += choose.elsewhere(part, have, picked, brought, manager.offered)
            picked += self._lost(part, {entry.name for entry in picked})
            install += [entry for entry in picked if entry not in install]
            self.warnings += warnings
        helpers = Part("helpers", tuple(Wanted(name) for name in manager.helpers()))
        install += choose.pick(helpers, have, (), manager.versions)[0]
        remove: list[str] = []
        for part in survey.gone:
            book = survey.book(part)
            remove += [name for name in (*book.holds, *book.wanted) if name in have]
        return self._more(Request(tuple(install)), remove=remove)

    def _lost(self, part: Part, picked: set[str]) -> list[Wanted]:
        """What somebody took away of that which was brought before, as the repositories have it."""
        lost = [name for name in self._survey.lost(part) if name not in picked]
        offered = self._manager.versions(lost) if lost else {}
        for name in lost:
            if not offered.get(name):
                self.warnings.append(f"{name}, which part {part.name} brought, is gone, and no repository has it")
        return [Wanted(name) for name in lost if offered.get(name)]

    def _more(self, base: Request, install: list[Wanted] | None = None, remove: list[str] | None = None) -> Request:
        wanted = [*base.install, *(install or [])]
        named = {item.name for item in wanted}
        gone = dict.fromkeys([*base.remove, *(remove or [])])
        return self._manager.request(self._order.parts, wanted, [name for name in gone if name not in named])

    def _without_conflicts(self, request: Request) -> tuple[Request, Transaction]:
        """Have the other stack removed, but for names that both stacks have."""
        manager = self._manager
        conflicts = sorted({name for part in self._order.parts for name in self._survey.conflicting(part)})
        if not conflicts:
            return request, manager.simulate(request)
        first = None
        taken: set[str] = set()
        try:
            first = manager.simulate(request)
            taken = {change.name for change in first.changes if change.after}
        except PackageError:
            pass  # They may fit once the others are gone.
        left = [name for name in conflicts if name not in taken]
        if first is not None and not left:
            return request, first
        more = self._more(request, remove=left)
        try:
            return more, manager.simulate(more)
        except PackageError:
            if first is None:
                raise
            return request, first  # What is asked needs them.

    def _with_headers(self, request: Request, found: Transaction) -> tuple[Request, Transaction]:
        """Add the running kernel's headers where modules have to be built and they are missing."""
        manager, kernel = self._manager, self._order.kernel
        builds = [change.name for change in found.changes if change.after and dkms.is_dkms(change.name)]
        for part in self._order.parts:
            builds += [str(module) for module in self._survey.unbuilt(part)]
        if not builds or dkms.headers(manager.root, kernel):
            return request, found
        called, package = manager.headers(kernel)
        if package is None:
            raise refuse.headers(called, kernel, builds[0])
        if any(change.name == package.name and change.after for change in found.changes):
            return request, found
        request = self._more(request, install=[package])
        return request, manager.simulate(request)

    def _refuse(self, found: Transaction) -> None:
        order, brought = self._order, set(self._survey.brought())
        held = {name for book in self._survey.ledgers.values() for name in book.holds}
        conflicts = {name for part in order.parts for name in self._survey.conflicting(part)}

        def ours(name: str) -> bool:
            return name in brought or name in conflicts or any(part.owns(name) for part in order.parts)

        refuse.forbidden(found.changes, order.forbid)
        refuse.staying([change for change in found.changes if self._survey.stays(change.name)])
        refuse.holds(found.changes, self._survey.packages, held)
        refuse.removals(found.changes, ours, order.replace_ok)
        refuse.busy(found.changes, self._manager.root)
        if any(change.after for change in found.changes):
            space = refuse.disk_space(self._manager.root)
            refuse.room(found, self._manager.cache, order.min_free_mb, space)


class Bringer:
    """One visit to one host. `bring` raises PackageError; `outcome` then holds what was done."""

    def __init__(
        self,
        manager: Manager,
        order: Order,
        fetch: keyring.Fetch,
        builder: Builder,
        *,
        check: bool,
        simulate: bool = True,
    ) -> None:
        self._manager = manager
        self._order = order
        self._fetch = fetch
        self._builder = builder
        self._check = check
        self._simulate = simulate or not check
        self.outcome = Outcome(holds_in=manager.holds_in)
        self._unmended: PackageError | None = None  # A build that fails keeps packages from being whole.

    def bring(self) -> Outcome:
        try:
            self._survey = Survey(self._manager, self._order)
            self._mend()
            self._survey.look()
            keys = self._survey.kept_keys()
            unsure = None in keys.values()
            pending = self._survey.pending(keys)
            if unsure or pending or self._survey.unsettled():
                if self._simulate:
                    self._change(keys)
                else:
                    self._tell(pending)
            if not self._check:
                self.outcome.warnings += self._manager.acquaint(self._order.repositories, anew=unsure or bool(pending))
            # Before modules are looked at: a failed build must not leave the packages free to move.
            self._hold()
            self._keep_built()
            if self._unmended is not None and self._manager.damage():
                raise self._unmended
        finally:
            self._manager.close()
        return self.outcome

    def _mend(self) -> None:
        damage = self._manager.damage()
        if not damage:
            return
        if self._check:
            self.outcome.repaired = [f"to be repaired: {entry}" for entry in damage]
            return
        self._manager.wait(self._order.lock_timeout)
        try:
            done = self._manager.repair(self._order.parts)
        except PackageError as exc:
            if exc.kind != "dkms":
                raise
            # What is asked may be the release that builds.
            self._unmended = exc
            return
        self.outcome.repaired = [*damage, *(f"ran {entry}" for entry in done)]

    def _change(self, kept: dict[str, bytes | None]) -> None:
        manager, order, survey = self._manager, self._order, self._survey
        keys = {
            repository.name: kept[repository.name] or keyring.fetched(repository, self._fetch)
            for repository in order.repositories
        }
        pending = survey.pending(dict(keys))
        for part in order.parts:
            refuse.foreign_packages(survey.conflicting(part), survey.packages, order.replace_ok)
        unread = manager.look(order.repositories, keys, order.parts)
        self.outcome.warnings += unread
        planner = Planner(survey)
        try:
            request, found = planner.plan()
        except PackageError as exc:
            raise failures.beside(exc, unread) from exc
        self.outcome.warnings += planner.warnings
        if self._check:
            self._note(found, pending)
            survey.packages = _after(survey.packages, found)
            return
        manager.wait(order.lock_timeout)
        if found.changes:
            manager.fetch(request)
        self._note(found, pending)
        self._do(request, found, pending)

    def _tell(self, pending: list[File]) -> None:
        """What is not as asked, with no repository asked what would come of it."""
        survey = self._survey
        self.outcome.files = survey.shown(pending)
        for part in self._order.parts:
            for package in part.packages:
                have = survey.packages.get(package.name)
                if not choose.is_as_wanted(package, have):
                    before = have.version if have is not None else ""
                    after = package.version or "installed"
                    self.outcome.changes.append(Change(package.name, before, after))
            told = {change.name for change in self.outcome.changes}
            lost = [name for name in survey.lost(part) if name not in told]
            self.outcome.changes += [Change(name, "", "installed") for name in lost]
            # It comes back, and so nothing of it is released.
            survey.packages = {**survey.packages, **{name: Installed(name, "") for name in lost}}
        if not self.outcome.changed:
            self.outcome.repaired.append("what the parts need is to be looked for")

    def _note(self, found: Transaction, pending: list[File]) -> None:
        self.outcome.files = self._survey.shown(pending)
        self.outcome.changes = list(found.changes)

    def _do(self, request: Request, found: Transaction, pending: list[File]) -> None:
        manager = self._manager
        # What is ours is written down before it is there: the power may be lost in between.
        for part in self._survey.parts if found.changes else ():
            book = self._survey.book(part)
            # A dependency belongs to the part that owns it, or else to the first of this visit.
            first = part is self._order.parts[0] if self._order.parts else False
            new = [
                change.name
                for change in found.changes
                if part.owns(change.name) or (first and not change.before and not self._survey.owner(change.name))
            ]
            # What was asked is written last: until then this is still the old stack, and another that was begun.
            coming = tuple(sorted({*book.coming, *new}))
            self._survey.write(part, replace(book, begun=_asked(part), coming=coming))
        for file in pending:
            files.put(self._survey.place(file.path), file.data)
        if found.changes:
            try:
                manager.apply(request, self._order.lock_timeout)
            except PackageError:
                self._after_apply()
                # A failed build is the cause, and apt's own words do not tell.
                for part in self._order.parts:
                    self._fail_for_builds(part)
                raise
            self._after_apply()
        self._see_that_it_holds()

    def _after_apply(self) -> None:
        before = dict(self._survey.packages)
        self._survey.look()
        after = dict(self._survey.packages)
        self.outcome.changes = self._manager.changes_between(before, after)

    def _see_that_it_holds(self) -> None:
        """PackageError where the package manager ended well with something else than asked."""
        have = self._survey.packages
        touched = {change.name for change in self.outcome.changes}
        for part in self._order.parts:
            off = [package for package in part.packages if not choose.is_as_wanted(package, have.get(package.name))]
            strays = choose.strays(part, have, self._survey.others(part))
            off += [stray for stray in strays if stray.name in touched]
            if off:
                words = [
                    f"{entry.name} is"
                    f" {have[entry.name].version if entry.name in have else 'not installed'}"
                    f" instead of {entry.version or 'installed'}"
                    for entry in off
                ]
                raise PackageError(
                    "mixture",
                    f"part {part.name}: the package manager ended well, yet {'; '.join(words)}",
                    "see its log (/var/log/apt/term.log, /var/log/dnf.log), then run this again",
                    changed=True,
                )

    # Kernel modules

    def _fail_for_builds(self, part: Part) -> None:
        for module in self._survey.unbuilt(part):
            if dkms.make_log(self._manager.root, module, self._order.kernel)[0]:
                raise dkms.failure(self._manager.root, module, self._order.kernel)

    def _keep_built(self) -> None:
        """Build what DKMS has not built for the running kernel; PackageError where it cannot."""
        survey, kernel = self._survey, self._order.kernel
        touched = {change.name for change in self.outcome.changes if dkms.is_dkms(change.name)}
        for part in self._order.parts:
            missing = survey.unbuilt(part)
            if self._check:
                # Packages that are not there yet have no sources to look at.
                self.outcome.repaired += [f"to be built for {kernel}: {entry}" for entry in missing]
                continue
            if any(part.owns(name) for name in touched):
                self._fail_for_builds(part)
            for module in missing:
                self._builder(module, kernel)
                self.outcome.repaired.append(f"built {module} for {kernel}")
            left = survey.unbuilt(part)
            if left:
                raise dkms.failure(self._manager.root, left[0], kernel)

    # Holds

    def _hold(self) -> None:
        """Hold what is installed of each part, and release what no part has any more; likewise the kernel."""
        now = self._manager.held()
        for part in self._survey.parts:
            owned = {name for name in self._survey.packages if part.hold and part.owns(name)}
            owned = {name for name in owned if not self._survey.stays(name)}
            book = self._survey.book(part)
            kept = {name for name in book.brought if name in self._survey.packages}
            self._keep(part, owned - self._held_by_others(part), now, kept)
        if self._order.hold_kernel is not None:
            self._keep(Part(kernels.LEDGER, ()), self._survey.kernel(), now, None)

    def _held_by_others(self, part: Part) -> set[str]:
        return {name for other, book in self._survey.ledgers.items() if other != part.name for name in book.holds}

    def _keep(self, part: Part, wanted: set[str], now: set[str], brought: set[str] | None) -> None:
        """Hold these packages and no others of the part; ``brought``: None where it owns none of them."""
        book = self._survey.book(part)
        add = sorted(wanted - now)
        drop = sorted((set(book.holds) - wanted) & now)
        # An operator's own hold stays the operator's.
        mine = (wanted & set(book.holds)) | set(add)
        self.outcome.held += add
        self.outcome.released += drop
        if self._check:
            return
        if part in self._survey.gone or (brought is None and not mine):
            if add or drop:
                self._manager.hold([part], add, drop)
            self._survey.forget(part)
            return
        packages = tuple(sorted(set() if brought is None else brought | mine))
        first = Ledger(packages, tuple(sorted(mine | set(book.holds))), _asked(part))
        self._survey.write(part, first)
        if add or drop:
            self._manager.hold([part], add, drop)
        self._survey.write(part, replace(first, holds=tuple(sorted(mine))))


def _asked(part: Part) -> tuple[str, ...]:
    return tuple(sorted(package.name for package in part.packages))


def _after(before: dict[str, Installed], found: Transaction) -> dict[str, Installed]:
    """The packages as they would be."""
    after = dict(before)
    for change in found.changes:
        if change.after:
            have = before.get(change.name)
            held = have is not None and have.held
            after[change.name] = Installed(change.name, change.after, change.arch, held=held)
        else:
            after.pop(change.name, None)
    return after
