# SPDX-License-Identifier: GPL-3.0-or-later
"""Is the loaded RDMA stack the installed one, and what would a restart of it break?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable, Iterable, Mapping

from .._data.rdma_users import FILE_SYSTEMS, HOLDERS, RDMA_OPTIONS

# The modules whose versions tell a stack; the first that is loaded decides.
TELLING = ("mlx5_core", "ib_core", "mlx5_ib", "ib_uverbs")
_DEVICES = "/dev/infiniband/"
# The subnet manager and its like hold umad devices; a restart ends them, too.
_FIELDS = ("srcversion", "version")


@dataclass(frozen=True)
class Blocker:
    """One thing that a restart would break, or that would keep it from working."""

    kind: str  # mount, module, process
    name: str
    what: str
    following: str

    def __str__(self) -> str:
        return f"{self.what} ({self.kind} {self.name}): {self.following}"


@dataclass(frozen=True)
class Loaded:
    """A module that is loaded in another version than the one installed."""

    module: str
    loaded: str
    installed: str

    def __str__(self) -> str:
        return f"{self.module} {self.loaded} is loaded, {self.installed} is installed"


def not_back(
    wanted: Iterable[str], differ: Iterable[Loaded], there: Iterable[str], unknown: Iterable[str]
) -> list[str]:
    """Modules that are not loaded as installed: what is not loaded at all differs from nothing."""
    good = set(there) - set(unknown)
    names = [entry.module for entry in differ] + [name for name in wanted if name not in good]
    return list(dict.fromkeys(names))


def mounts(text: str) -> list[Blocker]:
    """File systems over RDMA, of /proc/mounts."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4:
            continue
        place, kind, options = words[1], words[2], words[3].split(",")
        what = FILE_SYSTEMS.get(kind, "")
        if not what and RDMA_OPTIONS.get(kind) in options:
            what = f"{kind} over RDMA"
        if what:
            found.append(Blocker("mount", place, what, f"`umount {place}`, or drain the host"))
    return found


def modules(text: str) -> list[Blocker]:
    """Users of the stack in the kernel, of /proc/modules."""
    used = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and words[2].isdigit():
            used[words[0]] = int(words[2])
    return [
        Blocker("module", holder.module, holder.what, holder.following)
        for holder in HOLDERS
        if holder.module in used and (holder.always or used[holder.module] > 0)
    ]


def processes(links: Iterable[tuple[int, str, str]]) -> list[Blocker]:
    """Programs that have an RDMA device open: (process, its name, the open file) each."""
    found: dict[int, Blocker] = {}
    for pid, name, target in links:
        if target.startswith(_DEVICES) and pid not in found:
            found[pid] = Blocker("process", f"{name}[{pid}]", f"{target} is open", "let it end, or drain the host")
    return [found[pid] for pid in sorted(found)]


def open_files(root: str, beginning: str = _DEVICES) -> list[tuple[int, str, str]]:
    """Every open file of every process that may be looked at, by the beginning of its path."""
    found = []
    home = os.path.join(root, "proc")
    try:
        pids = [name for name in os.listdir(home) if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        folder = os.path.join(home, pid, "fd")
        try:
            numbers = os.listdir(folder)
        except OSError:
            continue  # It has ended.
        for number in numbers:
            try:
                target = os.readlink(os.path.join(folder, number))
            except OSError:
                continue
            if target.startswith(beginning):
                found.append((int(pid), _name(home, pid), target))
    return found


def _name(home: str, pid: str) -> str:
    return _text(os.path.join(home, pid, "comm")) or "?"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def loaded(root: str) -> list[str]:
    """Those of TELLING that are loaded."""
    return [entry for entry in TELLING if os.path.isdir(os.path.join(root, "sys/module", entry))]


def differs(root: str, installed: Callable[[str], Mapping[str, str] | None]) -> tuple[list[Loaded], list[str]]:
    """Loaded modules that are not the installed ones, and those that could not be compared.

    ``installed``: what modinfo says of a module (srcversion and version), None where it cannot.
    """
    found, unknown = [], []
    for module in loaded(root):
        home = os.path.join(root, "sys/module", module)
        there = installed(module)
        if there is None:
            unknown.append(module)
            continue
        for field in _FIELDS:
            now, then = _text(os.path.join(home, field)), there.get(field, "")
            # A kernel's own module may have no version where the vendor's has one.
            both = now and then
            if (both and now != then) or (field == "version" and bool(now) != bool(then)):
                found.append(Loaded(module, now or "the kernel's own", then or "the kernel's own"))
                break
    return found, unknown


def look(root: str) -> list[Blocker]:
    """All blockers of the host below ``root``."""
    return [
        *mounts(_text(os.path.join(root, "proc/mounts"))),
        *modules(_text(os.path.join(root, "proc/modules"))),
        *processes(open_files(root)),
    ]
