# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring parts of a plan to a host in one visit: find all that would happen, refuse, or do it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    choose,
    dkms,
    files,
    keyring,
    ledger,
    openpgp,
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
    Repository,
    Request,
    Transaction,
    Wanted,
)


@dataclass(frozen=True)
class Order:
    """What is asked. ``absent``: names of parts that are to go, with all that they brought."""

    repositories: tuple[Repository, ...]
    parts: tuple[Part, ...]
    absent: tuple[str, ...] = ()
    replace_ok: bool = False
    forbid: tuple[str, ...] = ()
    lock_timeout: float = 120
    min_free_mb: int = 300
    kernel: str = field(default_factory=lambda: os.uname().release)


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
        self.outcome = Outcome()
        self._before: dict[str, Installed] = {}
        self._ledgers: dict[str, ledger.Ledger] = {}
        self._gone = tuple(Part(name, ()) for name in order.absent)

    def bring(self) -> Outcome:
        try:
            self._bring()
        finally:
            self._manager.close()
        return self.outcome

    def _bring(self) -> None:
        root = self._manager.root
        names = {*ledger.names(root), *(part.name for part in self._order.parts)}
        self._ledgers = {name: ledger.load(root, name) for name in names}
        self._mend()
        self._before = self._manager.installed()
        keys = self._kept_keys()
        pending = [] if None in keys.values() else self._pending(keys)
        if None in keys.values() or pending or self._unsettled():
            self._change(keys)
        self._keep_built()
        self._hold()

    # What an interrupted run left

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

    # Is there anything to do?

    def _kept_keys(self) -> dict[str, bytes | None]:
        """The keyrings that are right as they lie there, by the repository's name."""
        found: dict[str, bytes | None] = {}
        for one in self._order.repositories:
            path = self._place(self._manager.key_path(one.name))
            found[one.name] = keyring.kept(path, one)
        return found

    def _place(self, path: str) -> str:
        return os.path.join(self._manager.root, path.lstrip("/"))

    def _pending(self, keys: dict[str, bytes | None]) -> list[File]:
        wanted = [
            File(self._manager.key_path(name), self._manager.key_data(packets))
            for name, packets in keys.items()
            if packets is not None
        ]
        wanted += self._manager.files(self._order.repositories, [*self._order.parts, *self._gone])
        return [one for one in wanted if files.read(self._place(one.path)) != one.data]

    def _others(self, part: Part) -> set[str]:
        """Names that other parts brought."""
        return {
            name
            for other, book in self._ledgers.items()
            if other != part.name
            for name in book.packages
        }

    def _unsettled(self) -> bool:
        """Whether packages have to be looked for at all; most visits end without."""
        have = self._before
        if self._manager.helpers():
            return True
        for part in self._order.parts:
            if not all(choose.is_as_wanted(one, have.get(one.name)) for one in part.packages):
                return True
            if choose.conflicting(part, have) or choose.strays(part, have, self._others(part)):
                return True
            if self._unbuilt(part, have) and not dkms.headers(
                self._manager.root, self._order.kernel
            ):
                return True
        return any(
            name in have and have[name].whole
            for part in self._gone
            for name in self._book(part).packages
        )

    def _book(self, part: Part) -> ledger.Ledger:
        return self._ledgers.get(part.name, ledger.Ledger())

    # Finding what would happen, and doing it

    def _change(self, kept: dict[str, bytes | None]) -> None:
        manager, order = self._manager, self._order
        keys = {
            one.name: kept[one.name] or keyring.fetched(one, self._fetch)
            for one in order.repositories
        }
        pending = self._pending(dict(keys))
        for part in order.parts:
            refuse.foreign_packages(
                choose.conflicting(part, self._before), self._before, order.replace_ok
            )
        self.outcome.warnings += manager.look(order.repositories, keys, order.parts)
        request = self._request([])
        found = manager.simulate(request)
        request, found = self._with_headers(request, found)
        leftovers = manager.leftovers(request, self._brought_before())
        if leftovers:
            request = self._request([*request.remove, *leftovers], request)
            found = manager.simulate(request)
        self._refuse(found)
        self._note_files(pending)
        self.outcome.changes = list(found.changes)
        if self._check:
            self._before = _after(self._before, found)
            return
        manager.wait(order.lock_timeout)
        if found.changes:
            manager.fetch(request)
        self._do(request, found, pending)

    def _request(self, remove: list[str], base: Request | None = None) -> Request:
        install = list(base.install) if base else []
        if base is None:
            for part in self._order.parts:
                picked, warnings = choose.pick(
                    part, self._before, self._others(part), self._manager.versions
                )
                brought = [name for name in self._book(part).packages if name in self._before]
                picked += choose.elsewhere(
                    part, self._before, picked, brought, self._manager.offered
                )
                install += [one for one in picked if one not in install]
                self.outcome.warnings += warnings
                remove += choose.conflicting(part, self._before)
            helpers = tuple(Wanted(name) for name in self._manager.helpers())
            part = Part("helpers", helpers)
            install += choose.pick(part, self._before, (), self._manager.versions)[0]
            for part in self._gone:
                remove += [name for name in self._book(part).holds if name in self._before]
        named = {one.name for one in install}
        unique = [name for name in dict.fromkeys(remove) if name not in named]
        return self._manager.request(self._order.parts, install, unique)

    def _with_headers(self, request: Request, found: Transaction) -> tuple[Request, Transaction]:
        """Add the running kernel's headers where modules have to be built and they are missing."""
        manager, kernel = self._manager, self._order.kernel
        builds = [one.name for one in found.changes if one.after and dkms.is_dkms(one.name)]
        for part in self._order.parts:
            builds += [str(one) for one in self._unbuilt(part, self._before)]
        if not builds or dkms.headers(manager.root, kernel):
            return request, found
        package = manager.headers_package(kernel)
        if package in {one.name for one in found.changes if one.after}:
            return request, found
        if not manager.versions([package]).get(package):
            raise refuse.headers(package, kernel, builds[0])
        more = choose.pick(Part("headers", (Wanted(package),)), self._before, (), manager.versions)[
            0
        ]
        request = manager.request(
            self._order.parts, [*request.install, *more], list(request.remove)
        )
        return request, manager.simulate(request)

    def _brought_before(self) -> list[str]:
        parts = [*self._order.parts, *self._gone]
        return sorted({name for part in parts for name in self._book(part).packages})

    def _refuse(self, found: Transaction) -> None:
        order, brought = self._order, set(self._brought_before())
        held = {name for book in self._ledgers.values() for name in book.holds}
        conflicts = {
            name for part in order.parts for name in choose.conflicting(part, self._before)
        }

        def ours(name: str) -> bool:
            return (
                name in brought or name in conflicts or any(part.owns(name) for part in order.parts)
            )

        refuse.forbidden(found.changes, order.forbid)
        refuse.holds(found.changes, self._before, held)
        refuse.removals(found.changes, ours, order.replace_ok)
        if any(one.after for one in found.changes):
            space = refuse.disk_space(self._manager.root)
            refuse.room(found, self._manager.cache, order.min_free_mb, space)

    def _note_files(self, pending: list[File]) -> None:
        for one in pending:
            before = files.read(self._place(one.path))
            self.outcome.files.append(
                {"path": one.path, "before": _shown(before), "after": _shown(one.data)}
            )

    def _do(self, request: Request, found: Transaction, pending: list[File]) -> None:
        manager = self._manager
        # What is ours is written down before it is there: the power may be lost in between.
        for part in [*self._order.parts, *self._gone]:
            book = self._book(part)
            # A dependency belongs to the part that owns it, or else to the first of this visit.
            first = part is self._order.parts[0] if self._order.parts else False
            new = [
                one.name
                for one in found.changes
                if part.owns(one.name) or (first and not one.before and not self._owner(one.name))
            ]
            self._write(part, {*book.packages, *new}, set(book.holds))
        for one in pending:
            files.put(self._place(one.path), one.data)
        if found.changes:
            try:
                manager.apply(request, self._order.lock_timeout)
            except PackageError:
                # A failed build is the cause, and apt's own words do not tell.
                for part in self._order.parts:
                    self._fail_for_builds(part, manager.installed())
                raise
            finally:
                self._after_apply()
        self._see_that_it_holds()

    def _after_apply(self) -> None:
        after = self._manager.installed()
        self.outcome.changes = self._manager.changes_between(self._before, after)
        self._before = after

    def _owner(self, name: str) -> bool:
        return any(part.owns(name) for part in self._order.parts)

    def _write(self, part: Part, packages: set[str], holds: set[str]) -> None:
        book = ledger.Ledger(tuple(sorted(packages)), tuple(sorted(holds)))
        if book != self._book(part):
            files.put(ledger.path(self._manager.root, part.name), ledger.text(book))
            self._ledgers[part.name] = book

    def _see_that_it_holds(self) -> None:
        have = self._before
        for part in self._order.parts:
            off = [
                f"{one.name} is {have[one.name].version if one.name in have else 'not installed'}"
                f" instead of {one.version or 'installed'}"
                for one in part.packages
                if not choose.is_as_wanted(one, have.get(one.name))
            ]
            if off:
                raise PackageError(
                    "mixture",
                    f"part {part.name}: the package manager ended well, yet {'; '.join(off)}",
                    "see its log (/var/log/apt/term.log, /var/log/dnf.log), then run this again",
                    changed=True,
                )

    # Kernel modules

    def _unbuilt(self, part: Part, have: dict[str, Installed]) -> tuple[dkms.DkmsModule, ...]:
        owned = [name for name in have if dkms.is_dkms(name) and part.owns(name)]
        listed = [path for name in owned for path in self._manager.owned(name)]
        modules = dkms.sources(self._manager.root, listed)
        return dkms.unbuilt(self._manager.root, modules, self._order.kernel)

    def _fail_for_builds(self, part: Part, have: dict[str, Installed]) -> None:
        for module in self._unbuilt(part, have):
            if dkms.make_log(self._manager.root, module, self._order.kernel)[0]:
                raise dkms.failure(self._manager.root, module, self._order.kernel)

    def _keep_built(self) -> None:
        """Build what DKMS has not built for the running kernel; PackageError where it cannot."""
        if self._check:
            # Packages that are not there yet have no sources to look at.
            for part in self._order.parts:
                self.outcome.repaired += [
                    f"to be built for {self._order.kernel}: {one}"
                    for one in self._unbuilt(part, self._manager.installed())
                ]
            return
        changed = {one.name for one in self.outcome.changes if dkms.is_dkms(one.name)}
        for part in self._order.parts:
            if changed & {name for name in self._before if part.owns(name)}:
                self._fail_for_builds(part, self._before)
            for module in self._unbuilt(part, self._before):
                self._builder(module, self._order.kernel)
                self.outcome.repaired.append(f"built {module} for {self._order.kernel}")
            left = self._unbuilt(part, self._before)
            if left:
                raise dkms.failure(self._manager.root, left[0], self._order.kernel)

    # Holds

    def _hold(self) -> None:
        """Hold what is installed of each part, and release what no part has any more."""
        now = self._manager.held()
        for part in [*self._order.parts, *self._gone]:
            book = self._book(part)
            others = {
                name
                for other, one in self._ledgers.items()
                if other != part.name
                for name in one.holds
            }
            wanted = {name for name in self._before if part.hold and part.owns(name)} - others
            add = sorted(wanted - now)
            drop = sorted((set(book.holds) - wanted) & now)
            # An operator's own hold stays the operator's.
            mine = (wanted & set(book.holds)) | set(add)
            self.outcome.held += add
            self.outcome.released += drop
            if self._check:
                continue
            kept = {name for name in book.packages if name in self._before}
            if part in self._gone:
                self._manager.hold([part], add, drop)
                files.put(ledger.path(self._manager.root, part.name), None)
                self._ledgers.pop(part.name, None)
                continue
            self._write(part, kept | mine, mine | set(book.holds))
            if add or drop:
                self._manager.hold([part], add, drop)
            self._write(part, kept | mine, mine)


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


def _shown(data: bytes | None) -> str:
    """A file's text for people; a keyring as the fingerprints of its keys."""
    if data is None:
        return ""
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        try:
            return "".join(f"public key {one}\n" for one in openpgp.fingerprints(data))
        except openpgp.KeyFileError:
            return f"{len(data)} bytes\n"
