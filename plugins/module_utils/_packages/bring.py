# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring parts of a plan to a host in one visit: find all that would happen, refuse, or do it."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    choose,
    dkms,
    failures,
    files,
    keyring,
    refuse,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.build import Builder
from ansible_collections.ibready.cluster.plugins.module_utils._packages.files import File
from ansible_collections.ibready.cluster.plugins.module_utils._packages.manager import Manager
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Installed,
    Outcome,
    PackageError,
    Part,
    Request,
    Transaction,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.planning import Planner
from ansible_collections.ibready.cluster.plugins.module_utils._packages.survey import Order, Survey


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
    ) -> None:
        self._manager = manager
        self._order = order
        self._fetch = fetch
        self._builder = builder
        self._check = check
        self.outcome = Outcome(holds_in=manager.holds_in)

    def bring(self) -> Outcome:
        try:
            self._survey = Survey(self._manager, self._order)
            self._mend()
            self._survey.look()
            keys = self._survey.kept_keys()
            unsure = None in keys.values()
            pending = self._survey.pending(keys)
            if unsure or pending or self._survey.unsettled():
                self._change(keys)
            if not self._check:
                self.outcome.warnings += self._manager.acquaint(
                    self._order.repositories, anew=unsure or bool(pending)
                )
            # Before modules are looked at: a failed build must not leave the packages free to move.
            self._hold()
            self._keep_built()
        finally:
            self._manager.close()
        return self.outcome

    def _mend(self) -> None:
        damage = self._manager.damage()
        if not damage:
            return
        if self._check:
            self.outcome.repaired = [f"to be repaired: {one}" for one in damage]
            return
        self._manager.wait(self._order.lock_timeout)
        done = self._manager.repair(self._order.parts)
        self.outcome.repaired = [*damage, *(f"ran {one}" for one in done)]

    def _change(self, kept: dict[str, bytes | None]) -> None:
        manager, order, survey = self._manager, self._order, self._survey
        keys = {
            one.name: kept[one.name] or keyring.fetched(one, self._fetch)
            for one in order.repositories
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

    def _note(self, found: Transaction, pending: list[File]) -> None:
        self.outcome.files = self._survey.shown(pending)
        self.outcome.changes = list(found.changes)

    def _do(self, request: Request, found: Transaction, pending: list[File]) -> None:
        manager = self._manager
        # What is ours is written down before it is there: the power may be lost in between.
        for part in self._survey.parts:
            book = self._survey.book(part)
            # A dependency belongs to the part that owns it, or else to the first of this visit.
            first = part is self._order.parts[0] if self._order.parts else False
            new = [
                one.name
                for one in found.changes
                if part.owns(one.name)
                or (first and not one.before and not self._survey.owner(one.name))
            ]
            # What was asked is written last: until then this is still the old stack.
            self._survey.write(part, {*book.packages, *new}, set(book.holds), book.wanted)
        for one in pending:
            files.put(self._survey.place(one.path), one.data)
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
        touched = {one.name for one in self.outcome.changes}
        for part in self._order.parts:
            off = [one for one in part.packages if not choose.is_as_wanted(one, have.get(one.name))]
            strays = choose.strays(part, have, self._survey.others(part))
            off += [one for one in strays if one.name in touched]
            if off:
                words = [
                    f"{one.name} is"
                    f" {have[one.name].version if one.name in have else 'not installed'}"
                    f" instead of {one.version or 'installed'}"
                    for one in off
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
        touched = {one.name for one in self.outcome.changes if dkms.is_dkms(one.name)}
        for part in self._order.parts:
            missing = survey.unbuilt(part)
            if self._check:
                # Packages that are not there yet have no sources to look at.
                self.outcome.repaired += [f"to be built for {kernel}: {one}" for one in missing]
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
        """Hold what is installed of each part, and release what no part has any more."""
        now = self._manager.held()
        for part in self._survey.parts:
            book = self._survey.book(part)
            others = {
                name
                for other, one in self._survey.ledgers.items()
                if other != part.name
                for name in one.holds
            }
            wanted = {
                name for name in self._survey.packages if part.hold and part.owns(name)
            } - others
            add = sorted(wanted - now)
            drop = sorted((set(book.holds) - wanted) & now)
            # An operator's own hold stays the operator's.
            mine = (wanted & set(book.holds)) | set(add)
            self.outcome.held += add
            self.outcome.released += drop
            if self._check:
                continue
            kept = {name for name in book.packages if name in self._survey.packages}
            if part in self._survey.gone:
                self._manager.hold([part], add, drop)
                self._survey.forget(part)
                continue
            asked = tuple(sorted(one.name for one in part.packages))
            self._survey.write(part, kept | mine, mine | set(book.holds), asked)
            if add or drop:
                self._manager.hold([part], add, drop)
            self._survey.write(part, kept | mine, mine, asked)


def _after(before: dict[str, Installed], found: Transaction) -> dict[str, Installed]:
    """The packages as they would be."""
    after = dict(before)
    for one in found.changes:
        if one.after:
            have = before.get(one.name)
            held = have is not None and have.held
            after[one.name] = Installed(one.name, one.after, one.arch, held=held)
        else:
            after.pop(one.name, None)
    return after
