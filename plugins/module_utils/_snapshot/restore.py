# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a node back to a snapshot: find all that would happen, refuse, or do it.

Every step can be run again: after a loss of power the next run goes on where this one was.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Callable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._packages import dkms, refuse
from ansible_collections.ibready.cluster.plugins.module_utils._packages.build import Builder
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    PackageError,
    Part,
    Pin,
    Request,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot import (
    compare,
    files,
    store,
    take,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.model import (
    Packages,
    Snapshot,
    State,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.pool import Pool

# Tells one of managed_files.SYSTEMD and so on of changed files; what was run, "" for nothing.
Tell = Callable[[str], str]


@dataclass(frozen=True)
class Order:
    """What is asked. ``keep``: names of packages (globs) that stay as they are."""

    digest: str
    keep: tuple[str, ...] = ()
    lock_timeout: float = 120
    min_free_mb: int = 300
    snapshots: int = 5
    kernel: str = field(default_factory=lambda: os.uname().release)


@dataclass
class Outcome:
    """What was done, or in check mode would be."""

    snapshot: str = ""
    changes: list[Change] = field(default_factory=list)
    files: list[files.Move] = field(default_factory=list)
    way: compare.Way = field(default_factory=compare.Way)
    repaired: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    settled: bool = False

    @property
    def changed(self) -> bool:
        return bool(
            self.way != compare.Way() or self.files or self.repaired or self.told or self.settled
        )


class Restorer:
    """One visit to one node. `restore` raises PackageError; `outcome` then holds what was done."""

    def __init__(
        self, pool: Pool, order: Order, builder: Builder, tell: Tell, *, check: bool
    ) -> None:
        self._pool = pool
        self._order = order
        self._builder = builder
        self._tell = tell
        self._check = check
        self.outcome = Outcome()

    def restore(self) -> Outcome:
        try:
            self._restore()
        finally:
            self._pool.close()
        return self.outcome

    def _restore(self) -> None:
        root, digest = self._pool.root, self._order.digest
        state = take.at(root)
        if state.digest == digest and not state.towards:
            return  # It never left, or is back already: later changes of the operator are theirs.
        snapshot = found(digest, root)
        self.outcome.snapshot = snapshot.name
        self._mend(snapshot)
        now = self._pool.packages()
        way = compare.way(now, snapshot.packages, self._order.keep, self._pool.plain)
        self.outcome.way = way
        self.outcome.files = files.moves(snapshot, root)
        request = self._request(snapshot, way)
        self.outcome.settled = True
        if self._check:
            return
        self._pool.wait(self._order.lock_timeout)
        if way.moves:
            self._pool.fetch(request)
        # From here on the node is of no plan. Where it was at one, that can be gone back to.
        take.take(self._pool, digest, keep=self._order.snapshots, check=False)
        self._put([one for one in self.outcome.files if files.is_repository(one.path)])
        self._packages(snapshot, request, way)
        self._put([one for one in self.outcome.files if not files.is_repository(one.path)])
        # Packages may have brought files of ours along, or taken them away.
        self._put(files.moves(snapshot, root))
        files.remove_folders(snapshot.no_folders, root)
        for whom in sorted(files.to_tell(self.outcome.files)):
            said = self._tell(whom)
            self.outcome.told += [said] if said else []
        store.remember(State(digest), root)

    def _mend(self, snapshot: Snapshot) -> None:
        """What an interrupted run left."""
        damage = self._pool.damage()
        if not damage:
            return
        if self._check:
            self.outcome.repaired = [f"to be repaired: {one}" for one in damage]
            return
        self._pool.wait(self._order.lock_timeout)
        # All that differs is on its way back, so that a repair may take it away meanwhile.
        way = compare.way(
            self._pool.packages(), snapshot.packages, self._order.keep, self._pool.plain
        )
        names = tuple(self._pool.plain(one) for one in (*way.come, *way.go))
        done = self._pool.repair([Part("snapshot", (), (Pin(names),))])
        self.outcome.repaired = [*damage, *(f"ran {one}" for one in done)]

    def _request(self, snapshot: Snapshot, way: compare.Way) -> Request:
        """What to ask for, once nothing speaks against it."""
        pool, order = self._pool, self._order
        request = Request(
            tuple(map(pool.wanted, way.come)), tuple(dict.fromkeys(map(pool.unwanted, way.go)))
        )
        if not way.moves:
            return request
        compare.see_kernel(way.go, pool.plain, order.kernel)
        if way.come:
            kept = {
                path: one.data for path, one in snapshot.files.items() if files.is_repository(path)
            }
            said = pool.look_at(kept)
            names = {pool.plain(one) for one in way.come}
            compare.see_offered(way.come, pool.versions(names), pool.plain, said)
        planned = pool.simulate(request)
        compare.see_only(planned.changes, way, pool.plain)
        if way.come:
            refuse.room(planned, pool.cache, order.min_free_mb, refuse.disk_space(pool.root))
        self.outcome.changes = list(planned.changes)
        return request

    def _put(self, moves: Sequence[files.Move]) -> None:
        known = {one.path for one in self.outcome.files}
        for one in moves:
            files.put(one.path, one.then, self._pool.root)
            self.outcome.files += [] if one.path in known else [one]

    def _packages(self, snapshot: Snapshot, request: Request, way: compare.Way) -> None:
        pool = self._pool
        if way.moves:
            pool.apply(request, self._order.lock_timeout)
        now = pool.packages()
        # Removing and coming back left marks and rests of their own.
        left = compare.way(now, snapshot.packages, self._order.keep, pool.plain)
        if left.residue:
            pool.purge(left.residue)
        pool.mark(left.automatic, left.manual)
        pool.hold_names(left.hold, left.release)
        self._built(now, way)
        compare.see_it_holds(pool.packages(), snapshot.packages, self._order.keep, pool.plain)

    def _built(self, now: Packages, way: compare.Way) -> None:
        """Have DKMS build what came back, where the package manager passed over a failure."""
        root, kernel = self._pool.root, self._order.kernel
        names = [self._pool.plain(one) for one in way.come]
        owned = [path for name in names if dkms.is_dkms(name) for path in self._pool.owned(name)]
        modules = dkms.sources(root, owned)
        if not dkms.headers(root, kernel):
            return
        for one in dkms.unbuilt(root, modules, kernel):
            self._builder(one, kernel)
            self.outcome.repaired.append(f"built {one} for {kernel}")
        for one in dkms.unbuilt(root, modules, kernel):
            raise dkms.failure(root, one, kernel)


def found(digest: str, root: str) -> Snapshot:
    """The last snapshot of a digest; PackageError where the node has none."""
    snapshot = store.newest(digest, root)
    if snapshot is not None:
        return snapshot
    have = [f"{number}-{of[:12]}" for number, of in store.names(root)]
    if digest == "bare":
        raise PackageError(
            "input",
            "this host has no snapshot of before its first converge",
            "install the host anew; or roll it back to a lock (stack_rollback_to=previous)",
        )
    raise PackageError(
        "input",
        f"this host has no snapshot of the plan {digest[:12]}; it has {', '.join(have) or 'none'}",
        "put stack.lock.previous.yml in the place of stack.lock.yml and converge this host, which"
        " brings it to those versions; or leave it out with --limit",
    )
