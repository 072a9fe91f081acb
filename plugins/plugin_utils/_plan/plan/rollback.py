# SPDX-License-Identifier: GPL-3.0-or-later
"""Which plan each host goes back to, and when the two locks may change places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._ground.files import write_whole
from . import lock as locks, sbom

PREVIOUS, NEXT, BARE = "previous", "next", "bare"
ROADS = (PREVIOUS, NEXT, BARE)


class RollbackError(ValueError):
    """Why nobody is rolled back; the message names the next step."""


@dataclass(frozen=True)
class Locks:
    """The lock in force, and the one that a rollback goes to, with their files."""

    path: Path
    current: locks.Lock
    other: locks.Lock

    @property
    def other_path(self) -> Path:
        return self.path.with_name(locks.PREVIOUS)


def read(path: Path, road: str) -> Locks:
    """Both locks; RollbackError where there is nothing to go to. Raises LockError."""
    current, other = locks.read(path), locks.read(path.with_name(locks.PREVIOUS))
    if current is None:
        raise RollbackError(f"there is no lock {path}, so no host is known to be at one; next: see stack_lock_file")
    if other is None:
        raise RollbackError(
            f"there is no {path.with_name(locks.PREVIOUS)} to go back to, because the lock never "
            f"moved; next: -e stack_rollback_to={BARE} goes back to before ibready"
        )
    # Otherwise a second run, by habit or after a lost connection, would undo the first.
    older = other.created <= current.created
    if road == PREVIOUS and not older:
        raise RollbackError(
            f"{locks.PREVIOUS} is of {other.created} and newer than the lock: it was rolled back "
            "from. Next: playbooks/verify.yml judges the hosts by the lock that they went back "
            f"to; -e stack_rollback_to={NEXT} goes forward again"
        )
    if road == NEXT and older:
        raise RollbackError(
            f"{locks.PREVIOUS} is older than the lock: nothing was rolled back; next: -e stack_rollback_to={PREVIOUS}"
        )
    return Locks(path, current, other)


def digests(found: Locks, hosts: Iterable[str]) -> dict[str, str]:
    """The digest of each host's plan in the other lock; RollbackError names those without one."""
    there = {host: found.other.of_host(host) for host in hosts}
    without = sorted(host for host, entry in there.items() if entry is None)
    if without:
        raise RollbackError(
            f"{', '.join(without)}: not in {found.other_path}, because they joined later. Nothing "
            "was changed on any host. Next: leave them out with --limit; or, for them alone, "
            f"-e stack_rollback_to={BARE}"
        )
    return {host: entry[1].digest for host, entry in there.items() if entry is not None}


def differences(found: Locks) -> list[str]:
    """What the rollback changes, one line each."""
    return locks.changes(found.current, found.other)


def absent(found: Locks, done: Collection[str]) -> list[str]:
    """Hosts that are still at the lock in force, and would no longer be in it."""
    hosts = {host for kind in found.current.classes.values() for host in kind.hosts}
    return sorted(host for host in hosts - set(done) if _moves(found, host))


def _moves(found: Locks, host: str) -> bool:
    was, becomes = found.current.of_host(host), found.other.of_host(host)
    return was is None or becomes is None or was[1].digest != becomes[1].digest


def swap(found: Locks, packages: Mapping[str, Any], version: str) -> list[str]:
    """Let the locks change places, and write the bill of materials; raises OSError.

    The lock in force is written first: what is lost between the two steps is only the way forward.
    """
    wanted = {
        found.path: locks.text(found.other),
        found.other_path: locks.text(found.current),
        found.path.with_name(sbom.NAME): sbom.text(found.other, packages, version),
    }
    for path, text in wanted.items():
        write_whole(path, text)
    return [str(path) for path in wanted]
