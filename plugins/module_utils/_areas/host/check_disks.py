# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge file systems and disks: written to, with room left, not hiding the host's settings."""

from __future__ import annotations

import posixpath
from typing import Iterator, Sequence

from ..._data.host_resources import (
    FULL_BYTES,
    FULL_SHARE,
    NVME_STATES,
    ON_DISK,
    SETTINGS,
    SHM_BYTES,
    SPACE_BYTES,
    SPACE_SHARE,
    WRITTEN,
)
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed, passed, unknown
from ..._ground.look import look
from ..._parse.df import FileSystem
from ..._parse.mounts import Mount
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST, Scope
from .facts import HostFacts
from .facts_machine import DiskFacts

_SHM = "/dev/shm"
_WRITABLE, _SPACE, _NVME, _HIDDEN = "host.disk.writable", "host.disk.space", "host.disk.nvme", "host.disk.hidden"
_KIB, _GIB = 1024, 1024 * 1024


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.disk.* checks. A file system without any room is the node's own trouble, wherever its
    disk is; how much of another machine's disk is left is not."""
    found = facts.disks
    real = check_scope.real(machine)
    outside = check_scope.outside_container(machine)
    return [
        *outside.judge(_WRITABLE, lambda: _writable(found)),
        *real.then(outside).judge(_SPACE, lambda: _space(found, machine)),
        *real.then(outside).then(_with_nvme(found)).judge(_NVME, lambda: [_nvme(found)]),
        *outside.judge(_HIDDEN, lambda: [_hidden(found)]),
    ]


def _with_nvme(found: DiskFacts) -> Scope:
    return Scope("no NVMe disk" if found.nvme.missing else "")


def _mounted(mounts: Sequence[Mount]) -> dict[str, Mount]:
    """By place; what was mounted last lies above the others."""
    return {mount.point: mount for mount in mounts}


def _holder(path: str, mounted: dict[str, Mount]) -> Mount | None:
    """The mount that a path lies on."""
    while path not in mounted and path != "/":
        path = posixpath.dirname(path)
    return mounted.get(path)


def _writable(found: DiskFacts) -> list[Check]:
    if found.mounts.value is None:
        return [unknown(_WRITABLE, HOST, found.mounts.why or "nobody looked")]
    if found.fstab.value is None and not found.fstab.missing:
        return [unknown(_WRITABLE, HOST, found.fstab.why)]
    mounted = _mounted(found.mounts.value)
    wanted = {mount.point: mount for mount in found.fstab.value or ()}
    bad = [
        failed(_WRITABLE, mount.point, f"{mount.device} is mounted read-only", "writable", CAPABILITY)
        for mount in mounted.values()
        if mount.read_only and _should_be_written(mount, mounted, wanted)
    ]
    if found.left.value is None:
        return [*bad, unknown(_WRITABLE, HOST, found.left.why or "nobody looked")]
    for system in found.left.value:
        mount = mounted.get(system.point)
        if mount is None or not mount.read_only:
            bad += _full(system)
    return bad or [passed(_WRITABLE, HOST, f"{len(found.left.value)} file systems", "writable", CAPABILITY)]


def _should_be_written(mount: Mount, mounted: dict[str, Mount], wanted: dict[str, Mount]) -> bool:
    """Unless fstab says otherwise: what fstab has on a disk, and wherever services write. Systems
    made to be read only have no line of fstab for / and write elsewhere."""
    if mount.point in wanted:
        return mount.kind in ON_DISK and "ro" not in wanted[mount.point].options
    if mount.point not in WRITTEN or mount.kind not in ON_DISK:
        return False
    variable = _holder("/var", mounted)
    return mount.point != "/" or variable is None or variable.read_only


_FULL = Cause(
    "the file system is full", "`df -h`, `du -xh --max-depth=2 DIRECTORY | sort -h | tail`: make room, the disk is well"
)
_NO_INODE = Cause(
    "the file system has no inode left for another file, though it has room",
    "`df -i`; remove many small files (`du --inodes -x / | sort -n | tail`)",
)


def _full(system: FileSystem) -> Iterator[Check]:
    expected = "room for files"
    least = min(FULL_BYTES / _KIB, FULL_SHARE * system.size)
    if system.size and system.available < least:
        observed = f"{max(0, system.available) // _KIB} MiB of {_size(system.size)} left"
        yield failed(_WRITABLE, system.point, observed, expected, CAPABILITY, cause=_FULL)
    elif system.inodes and not system.inodes_free:
        observed = f"none of {system.inodes} inodes left"
        yield failed(_WRITABLE, system.point, observed, expected, CAPABILITY, cause=_NO_INODE)


def _size(kib: int) -> str:
    return f"{kib / _GIB:.0f} GiB" if kib >= 10 * _GIB else f"{kib // _KIB} MiB"


def _space(found: DiskFacts, machine: Machine) -> list[Check]:
    if found.left.value is None:
        return [unknown(_SPACE, HOST, found.left.why or "nobody looked")]
    read_only = {mount.point for mount in found.mounts.value or () if mount.read_only}
    expected = f"{SPACE_SHARE:.0%} of bytes, or {SPACE_BYTES // _KIB // _GIB} GiB, and {SPACE_SHARE:.0%} of inodes left"
    bad: list[Check] = []
    for system in found.left.value:
        if not system.size or system.point in read_only or any(_full(system)):
            continue
        if system.available < min(SPACE_BYTES / _KIB, SPACE_SHARE * system.size):
            observed = f"{_size(system.available)} of {_size(system.size)} left"
            shared = system.point == _SHM
            cause = "shared memory that jobs left, or still use" if shared else ""
            remedy = "`ls -l /dev/shm`; remove what no process has open (`lsof +D /dev/shm`)" if shared else ""
            bad.append(failed(_SPACE, system.point, observed, expected, CAPABILITY, cause=cause, remedy=remedy))
        elif system.inodes and system.inodes_free < SPACE_SHARE * system.inodes:
            observed = f"{system.inodes_free} of {system.inodes} inodes left"
            cause = "very many small files"
            bad.append(failed(_SPACE, system.point, observed, expected, CAPABILITY, cause=cause))
        elif system.point == _SHM and system.size * _KIB < SHM_BYTES and machine.has_gpus:
            cause = "something mounted it smaller than the half of memory that it has by default"
            remedy = "`mount -o remount,size=50% /dev/shm`, and correct its line in /etc/fstab"
            observed, wanted = f"{_size(system.size)} in all", f"at least {_size(SHM_BYTES // _KIB)}"
            bad.append(failed(_SPACE, _SHM, observed, wanted, CAPABILITY, cause=cause, remedy=remedy))
    least = min(found.left.value, key=lambda system: system.available / system.size if system.size else 1.0)
    share = f"least on {least.point}: {_size(max(0, least.available))} of {_size(least.size)}"
    return bad or [passed(_SPACE, HOST, share, expected, CAPABILITY)]


def _nvme(found: DiskFacts) -> Check:
    def judge(states: dict[str, str]) -> Check:
        foreign = [f"{name} {state}" for name, state in states.items() if state not in (*NVME_STATES, "dead")]
        dead = [name for name, state in states.items() if state == "dead"]
        if dead:
            return failed(_NVME, dead[0], f"{', '.join(dead)} dead", "live", CAPABILITY)
        if foreign:
            return unknown(_NVME, HOST, f"nobody knows what {', '.join(foreign)} means")
        shown = ", ".join(f"{name} {state}" for name, state in states.items() if state != "live")
        return passed(_NVME, HOST, shown or f"{len(states)} live", "live", CAPABILITY)

    return look(_NVME, HOST, found.nvme, judge)


def _hidden(found: DiskFacts) -> Check:
    def judge(mounts: tuple[Mount, ...]) -> Check:
        above = [mount for mount in _mounted(mounts).values() if mount.point in SETTINGS]
        if not above:
            return passed(_HIDDEN, HOST, "none is mounted over", "the host's own files", CAPABILITY)
        mount = above[0]
        observed = f"{mount.device} ({mount.kind}) is mounted over it"
        return failed(_HIDDEN, mount.point, observed, "the host's own files", CAPABILITY)

    return look(_HIDDEN, HOST, found.mounts, judge)
