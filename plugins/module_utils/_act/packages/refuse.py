# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons not to begin: each names what is in the way, and what to do about it."""

from __future__ import annotations

import os
from typing import Callable, Collection, Mapping, Sequence

from ..._data import gds
from .model import Change, Installed, PackageError, Transaction, matches

# Path -> (device number, free bytes).
Space = Callable[[str], "tuple[int, int]"]
_MIB = 2**20


def foreign_packages(what: Sequence[str], installed: Mapping[str, Installed], replace_ok: bool) -> None:
    """Refuse while packages of another stack are there and may not go."""
    if not what or replace_ok:
        return
    named = ", ".join(f"{name} {installed[name].version}" for name in what if name in installed)
    raise PackageError(
        "conflict",
        f"another RDMA stack or driver is installed, which would have to go: {named}",
        "take the host out of the plan, or allow the removal with ibready_replace_stack_ok=true"
        " (what uses the old stack stops working)",
    )


def removals(changes: Sequence[Change], ours: Callable[[str], bool], replace_ok: bool) -> None:
    """Refuse a transaction that takes away packages that are not of the part."""
    gone = [f"{change.name} {change.before}" for change in changes if change.act == "removed"]
    foreign = [
        f"{change.name} {change.before}" for change in changes if change.act == "removed" and not ours(change.name)
    ]
    if not foreign or replace_ok:
        return
    raise PackageError(
        "conflict",
        f"the installation would remove packages that are installed: {', '.join(foreign)}"
        + (f" (of {len(gone)} in all)" if len(gone) > len(foreign) else ""),
        "remove them yourself if they are not wanted, or allow it with ibready_replace_stack_ok=true",
    )


def forbidden(changes: Sequence[Change], globs: Sequence[str]) -> None:
    """Refuse a transaction that brings a package which nobody may bring without consent."""
    for change in changes:
        if change.act != "removed" and matches(change.name, globs):
            raise PackageError(
                "forbidden",
                f"{change.name} {change.after} would be installed, which must not be without consent (it"
                " changes firmware)",
                "allow it with ibready_firmware_ok=true, or leave it out of the plan",
            )


def staying(changes: Sequence[Change]) -> None:
    """Refuse a transaction that touches what stays as it was found."""
    for change in changes:
        to = f"to {change.after}" if change.after else "away"
        raise PackageError(
            "conflict",
            f"the installation would bring {change.name} {change.before}".rstrip() + f" {to}, which is of a part that"
            " stays as it was found",
            "plan a release of the other part that goes with it, or let the plan bring this one, too (its variable of"
            " stack_driver and so on, docs/stack.md)",
        )


def holds(changes: Sequence[Change], installed: Mapping[str, Installed], ours: Collection[str]) -> None:
    """Refuse to change a package that somebody else holds."""
    for change in changes:
        have = installed.get(change.name)
        if have is not None and have.held and change.name not in ours:
            to = f"to {change.after}" if change.after else "away"
            raise PackageError(
                "held",
                f"{change.name} {change.before} is held, and not by ibready; the plan would bring it {to}",
                f"ask who holds it; release it with `apt-mark unhold {change.name}` (`dnf versionlock"
                f" delete {change.name}`), or pin the plan to {change.before}",
            )


def busy(changes: Sequence[Change], root: str) -> None:
    """Refuse to move or remove a package whose scripts unload a module that is in use: they would fail half way."""
    for change in changes:
        module = gds.UNLOADED_BY.get(change.name) if change.before else None
        users = _users(root, module) if module else ""
        if users:
            to = f"to {change.after}" if change.after else "away"
            raise PackageError(
                "busy",
                f"{change.name} {change.before} is to be brought {to}, whose scripts unload {module}; it is {users},"
                " and where it is in use they fail and leave the package broken",
                "drain the host and run this again, or end the jobs that read by GPUDirect Storage"
                " (`fuser -v /dev/nvidia-fs*` names them)",
            )


def _users(root: str, module: str) -> str:
    """What speaks against unloading a module; "" where it is not loaded, or the kernel says that nobody uses it."""
    home = os.path.join(root, "sys/module", module)
    if not os.path.lexists(home):
        return ""
    try:
        with open(os.path.join(home, "refcnt"), encoding="ascii", errors="replace") as stream:
            said = stream.read(20).strip()
    except OSError as exc:
        return f"loaded, and nobody can tell how many use it ({exc.strerror})"
    if said.lstrip("-").isdigit():
        return "" if said == "0" else f"in use ({said} users)"
    return f"loaded, and nobody can tell how many use it (refcnt is {said!r})"


def room(transaction: Transaction, cache: str, min_free_mb: int, space: Space) -> None:
    """Refuse where the disk would be left with less than ``min_free_mb``."""
    asked: dict[int, int] = {}
    free: dict[int, int] = {}
    paths: dict[int, list[str]] = {}
    for path, need in ((cache, transaction.download), ("/usr", max(0, transaction.unpacked))):
        try:
            device, left = space(path)
        except OSError as exc:
            raise PackageError(
                "disk", f"nobody can tell the free space of {path}: {exc.strerror}", "look at it"
            ) from exc
        asked[device] = asked.get(device, 0) + need
        free[device] = left
        paths.setdefault(device, []).append(path)
    for device, need in asked.items():
        if free[device] < need + min_free_mb * _MIB:
            raise PackageError(
                "disk",
                f"no room for the packages: {' and '.join(paths[device])} has"
                f" {free[device] // _MIB} MiB free; {-(-need // _MIB)} MiB are needed, and"
                f" {min_free_mb} MiB are to stay free",
                "free some space there (old kernels, logs, package caches), or lower min_free_mb",
            )


def disk_space(root: str) -> Space:
    """Device and free bytes of the nearest directory that exists."""

    def look(path: str) -> tuple[int, int]:
        place = os.path.join(root, path.lstrip("/"))
        while not os.path.exists(place) and place != os.path.dirname(place):
            place = os.path.dirname(place)
        stat = os.statvfs(place)
        return os.stat(place).st_dev, stat.f_bavail * stat.f_frsize

    return look


def headers(package: str, kernel: str, needs: str) -> PackageError:
    """The error where modules would have to be built for a kernel without headers."""
    return PackageError(
        "headers",
        f"{needs} builds kernel modules, but the headers of the running kernel {kernel} are not"
        f" there, and no repository has {package}",
        f"bring {package} into a repository that the host knows, or boot a kernel whose headers are available",
    )
