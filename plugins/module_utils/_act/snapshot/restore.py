# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a node back to a snapshot: find all that packages would have to do, refuse, or do it.

Every step can be run again: after a loss of power the next run goes on where this one was.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Callable, Mapping, Sequence

from ..packages import dkms, refuse
from ..packages.dkms import Builder
from ..packages.model import Change, PackageError, Part, Pin, Request, matches
from . import files, store
from .model import Package, Packages, Pool, Snapshot, State

# The name of a package without its architecture.
Plain = Callable[[Package], str]
_SHOWN = 8
_EPOCH = re.compile(r"^[0-9]+:")
# Tells one of managed_files.SYSTEMD and so on of changed files; what was run, "" for nothing.
Tell = Callable[[str], str]


@dataclass(frozen=True)
class Way:
    """The way back. ``come``: to be there in just this version; ``go``: to be purged."""

    come: tuple[Package, ...] = ()
    go: tuple[Package, ...] = ()
    automatic: tuple[str, ...] = ()
    manual: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    residue: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether there is anything for a transaction to do."""
        return bool(self.come or self.go)


def ways_back(now: Packages, then: Packages, keep: Sequence[str], plain: Plain) -> Way:
    """``keep``: names (globs) that stay as they are, whatever the snapshot says."""
    if now.manager != then.manager:
        raise PackageError(
            "input",
            f"the snapshot is of a host with {then.manager}, and this one has {now.manager}",
            "converge the host with the lock that is wanted instead",
        )

    def free(package: Package) -> bool:
        return not matches(plain(package), keep)

    come = sorted(entry for entry in then.installed - now.installed if free(entry))
    coming = {entry.name for entry in come}
    gone = sorted(entry for entry in now.installed - then.installed if free(entry))
    there = {entry.name for entry in then.installed}
    # What only changes its version comes; several versions beside each other (kernels) go by name.
    go = [entry for entry in gone if entry.name not in coming or _several(entry, now)]
    stays = {entry.name for entry in now.installed & then.installed} | coming
    stays |= {entry.name for entry in now.installed if entry.name in there and not free(entry)}
    return Way(
        tuple(come),
        tuple(go),
        tuple(sorted((then.automatic - now.automatic) & stays)),
        tuple(sorted((now.automatic - then.automatic) & stays)),
        tuple(sorted((then.held - now.held) & stays)),
        tuple(sorted((now.held - then.held) & stays)),
        tuple(sorted(now.residue - then.residue)),
    )


def _several(package: Package, now: Packages) -> bool:
    return sum(other.name == package.name for other in now.installed) > 1


def _see_offered(
    wanted: Sequence[Package],
    offered: Mapping[str, Sequence[str]],
    plain: Plain,
    said: Sequence[str],
) -> None:
    """Refuse where a version of the snapshot is no longer to be had."""
    lost = [package for package in wanted if package.version not in offered.get(plain(package), ())]
    if not lost:
        return
    named = ", ".join(f"{package.name} {package.version}" for package in lost[:_SHOWN])
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    raise PackageError(
        "version",
        f"no repository has {named}{more} any more, which the snapshot holds",
        "give a repository that still has it, or let such packages stay as they are with"
        " stack_rollback_keep (names or globs)",
        " ".join(said),
    )


def _see_only(changes: Sequence[Change], asked: Way, plain: Plain) -> None:
    """Refuse a transaction that would do more, or less, than was asked for."""
    named = {plain(package) for package in (*asked.come, *asked.go)}
    more = sorted({change.name for change in changes} - named)
    if more:
        raise PackageError(
            "conflict",
            f"to go back, the package manager would also change {', '.join(more[:_SHOWN])}",
            "see why with the package manager on the host; packages that stack_rollback_keep names"
            " may be what holds them",
        )


def see_kernel(go: Sequence[Package], plain: Plain, running: str) -> None:
    """Refuse to take the running kernel away."""
    for package in go:
        name = plain(package)
        image = name.startswith(("linux-image", "linux-modules")) and running in name
        version = _EPOCH.sub("", package.version)
        if image or (name.startswith("kernel") and running.startswith(version)):
            raise PackageError(
                "conflict",
                f"{package.name} {package.version} was not there at the time of the snapshot, and its"
                f" kernel {running} runs",
                "boot the kernel of before first, or let kernels stay as they are:"
                ' -e \'{"stack_rollback_keep": ["linux-*", "kernel*"]}\'',
            )


def _see_it_holds(now: Packages, then: Packages, keep: Sequence[str], plain: Plain) -> None:
    """Refuse to call it done where a package is not what it was."""
    left = ways_back(now, then, keep, plain)
    off = [f"{package.name} is not {package.version}" for package in left.come]
    off += [f"{package.name} {package.version} is still there" for package in left.go]
    if off:
        raise PackageError(
            "mixture",
            f"the package manager ended well, yet {'; '.join(off[:_SHOWN])}",
            "see its log (/var/log/apt/term.log, /var/log/dnf.log), then run this again",
            changed=True,
        )


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
    way: Way = field(default_factory=Way)
    repaired: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    settled: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.way != Way() or self.files or self.repaired or self.told or self.settled)


class Restorer:
    """One visit to one node. `restore` raises PackageError; `outcome` then holds what was done."""

    def __init__(self, pool: Pool, order: Order, builder: Builder, tell: Tell, *, check: bool) -> None:
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
        state = store.at(root)
        if state.digest == digest and not state.towards:
            return  # It never left, or is back already: later changes of the operator are theirs.
        snapshot = found(digest, root)
        self.outcome.snapshot = snapshot.name
        self._mend(snapshot)
        now = self._pool.packages()
        way = ways_back(now, snapshot.packages, self._order.keep, self._pool.plain)
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
        store.take(self._pool, digest, keep=self._order.snapshots, check=False)
        self._put([file for file in self.outcome.files if files.is_repository(file.path)])
        self._packages(snapshot, request, way)
        self._put([file for file in self.outcome.files if not files.is_repository(file.path)])
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
            self.outcome.repaired = [f"to be repaired: {entry}" for entry in damage]
            return
        self._pool.wait(self._order.lock_timeout)
        # All that differs is on its way back, so that a repair may take it away meanwhile.
        way = ways_back(self._pool.packages(), snapshot.packages, self._order.keep, self._pool.plain)
        names = tuple(self._pool.plain(package) for package in (*way.come, *way.go))
        done = self._pool.repair([Part("snapshot", (), (Pin(names),))])
        self.outcome.repaired = [*damage, *(f"ran {entry}" for entry in done)]

    def _request(self, snapshot: Snapshot, way: Way) -> Request:
        """What to ask for, once nothing speaks against it."""
        pool, order = self._pool, self._order
        request = Request(tuple(map(pool.wanted, way.come)), tuple(dict.fromkeys(map(pool.unwanted, way.go))))
        if not way.moves:
            return request
        see_kernel(way.go, pool.plain, order.kernel)
        if way.come:
            kept = {path: file.data for path, file in snapshot.files.items() if files.is_repository(path)}
            said = pool.look_at(kept)
            names = {pool.plain(package) for package in way.come}
            _see_offered(way.come, pool.versions(names), pool.plain, said)
        planned = pool.simulate(request)
        _see_only(planned.changes, way, pool.plain)
        refuse.busy(planned.changes, pool.root)
        if way.come:
            refuse.room(planned, pool.cache, order.min_free_mb, refuse.disk_space(pool.root))
        self.outcome.changes = list(planned.changes)
        return request

    def _put(self, moves: Sequence[files.Move]) -> None:
        known = {file.path for file in self.outcome.files}
        for move in moves:
            files.put(move.path, move.then, self._pool.root)
            self.outcome.files += [] if move.path in known else [move]

    def _packages(self, snapshot: Snapshot, request: Request, way: Way) -> None:
        pool = self._pool
        if way.moves:
            pool.apply(request, self._order.lock_timeout)
        now = pool.packages()
        # Removing and coming back left marks and rests of their own.
        left = ways_back(now, snapshot.packages, self._order.keep, pool.plain)
        if left.residue:
            pool.purge(left.residue)
        pool.mark(left.automatic, left.manual)
        pool.hold_names(left.hold, left.release)
        self._built(now, way)
        _see_it_holds(pool.packages(), snapshot.packages, self._order.keep, pool.plain)

    def _built(self, now: Packages, way: Way) -> None:
        """Have DKMS build what came back, where the package manager passed over a failure."""
        root, kernel = self._pool.root, self._order.kernel
        names = [self._pool.plain(package) for package in way.come]
        owned = [path for name in names if dkms.is_dkms(name) for path in self._pool.owned(name)]
        modules = dkms.sources(root, owned)
        if not dkms.headers(root, kernel):
            return
        for module in dkms.unbuilt(root, modules, kernel):
            self._builder(module, kernel)
            self.outcome.repaired.append(f"built {module} for {kernel}")
        for module in dkms.unbuilt(root, modules, kernel):
            raise dkms.failure(root, module, kernel)


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
