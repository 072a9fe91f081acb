# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what dnf 4 and rpm print in the C locale, and what versionlock.list says; order versions as rpm does. No I/O."""

from __future__ import annotations

import re
from functools import cmp_to_key
from typing import Collection, Mapping

from .model import Change, Installed

_PIECE = re.compile(r"[0-9]+|[a-zA-Z]+|~|\^")
# One package a line, for rpm and for dnf repoquery.
RPM_QUERY = "%{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\\n"
REPOQUERY = "%{name} %{epoch} %{version} %{release} %{arch}\\n"

_HEADINGS = {
    "Installing": "install",
    "Installing dependencies": "install",
    "Installing weak dependencies": "install",
    "Installing group/module packages": "install",
    "Upgrading": "upgrade",
    "Downgrading": "downgrade",
    "Reinstalling": "reinstall",
    "Removing": "remove",
    "Removing dependent packages": "remove",
    "Removing unused dependencies": "remove",
}
_REPLACING = re.compile(r"\s+replacing\s+(\S+)\.(\S+)\s+(\S+)")
_RULE = re.compile(r"[=─]{20,}")
_SIZE = re.compile(r"(Total download size|Total size|Installed size|Freed space): ([0-9.]+) ?([kMGT]?)")
_UNIT = {"": 1, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# name-[epoch:]version-release, the architecture as a star.
_LOCK = re.compile(r"(.+)-(?:([0-9]+):)?([^-\s]+)-([^-\s]+?)(?:\.\*|\.[a-z0-9_]+)?")
ABORTED = "Operation aborted"
LOCKS = "/etc/dnf/plugins/versionlock.list"
LOCK_PLUGIN = "python3-dnf-plugin-versionlock"
LOCK_MARK = "# Held by ibready.cluster.stack_packages:"


def compare(text: str, other: str) -> int:
    """-1, 0 or 1 for two texts of the form [epoch:]version[-release]."""
    left, right = _split(text), _split(other)
    for a, b in zip(left, right):
        order = _piecewise(a, b)
        if order:
            return order
    return 0


def _split(text: str) -> tuple[str, str, str]:
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    version, _dash, release = rest.partition("-")
    return epoch, version, release


def _piecewise(text: str, other: str) -> int:
    left, right = _PIECE.findall(text), _PIECE.findall(other)
    for a, b in zip(left, right):
        if a == b:
            continue
        # A tilde sorts before everything, a caret before all but the end.
        for mark in "~^":
            if mark in (a, b):
                return -1 if a == mark else 1
        if a.isdigit() and b.isdigit():
            if int(a) == int(b):
                continue
            return 1 if int(a) > int(b) else -1
        if a.isdigit() != b.isdigit():
            return 1 if a.isdigit() else -1
        return 1 if a > b else -1
    if len(left) == len(right):
        return 0
    longer = left if len(left) > len(right) else right
    sign = 1 if longer is left else -1
    return -sign if longer[min(len(left), len(right))] == "~" else sign


class TextError(ValueError):
    """This is not what the tool is known to print."""


def version(epoch: str, number: str, release: str) -> str:
    """[epoch:]version-release, without an epoch of 0."""
    return f"{'' if epoch in ('0', '(none)', '') else epoch + ':'}{number}-{release}"


def packages(text: str) -> tuple[Installed, ...]:
    """The packages of `RPM_QUERY` or `REPOQUERY`; TextError names a line that is none."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if len(words) != 5:
            raise TextError(f"a package list holds {line[:120]!r}")
        name, epoch, number, release, arch = words
        if name != "gpg-pubkey":
            found.append(Installed(name, version(epoch, number, release), arch))
    return tuple(found)


def versions(text: str) -> dict[str, tuple[str, ...]]:
    """Names to versions, best first, of a package list."""
    found: dict[str, set[str]] = {}
    for package in packages(text):
        found.setdefault(package.name, set()).add(package.version)
    order = cmp_to_key(compare)
    return {name: tuple(sorted(have, key=order, reverse=True)) for name, have in found.items()}


def transaction(text: str, have: Mapping[str, Installed]) -> tuple[Change, ...]:
    """The changes of dnf's table; TextError for a line that is not understood.

    A line whose name is too long for its column goes on in the next one.
    """
    found: dict[str, Change] = {}
    act, rules, words = "", 0, []
    for line in text.splitlines():
        if _RULE.match(line):
            rules += 1
            act = ""
            continue
        heading = line.rstrip()[:-1] if line.rstrip().endswith(":") else ""
        if rules != 2 or not line.strip():
            continue
        if not line.startswith(" "):
            act = _HEADINGS.get(heading, "")
            continue
        replaced = _REPLACING.fullmatch(line.rstrip())
        if replaced:
            name = replaced.group(1)
            found.setdefault(name, _change(name, replaced.group(2), "", have))
            continue
        if not act:
            continue
        words += line.split()
        if len(words) < 5:
            continue
        name, arch, after = words[:3]
        words = []
        found[name] = _change(name, arch, "" if act == "remove" else after, have, act)
    if words:
        raise TextError(f"dnf's table ends within {' '.join(words)!r}")
    return tuple(found.values())


def _change(name: str, arch: str, after: str, have: Mapping[str, Installed], act: str = "") -> Change:
    before = have[name].version if name in have else ""
    after = after[2:] if after.startswith("0:") else after
    return Change(name, before, after, arch, act == "downgrade")


def sizes(text: str) -> tuple[int, int]:
    """Bytes to download and bytes that the disk will hold more."""
    said = {what: float(size) * _UNIT[unit] for what, size, unit in _SIZE.findall(text)}
    download = said.get("Total download size", said.get("Total size", 0))
    return int(download), int(said.get("Installed size", 0) - said.get("Freed space", 0))


def lock(entry: str) -> tuple[str, str]:
    """Name and version of an entry of versionlock.list; ("", "") for a comment.

    An entry that names no version locks every version of the name.
    """
    text = entry.strip()
    if not text or text.startswith("#"):
        return "", ""
    text = text.lstrip("!")
    match = _LOCK.fullmatch(text)
    if match is None:
        return text, ""
    name, epoch, number, release = match.groups()
    return name, version(epoch or "0", number, release)


def _entries(text: str) -> list[tuple[bool, str]]:
    """Lines, each with whether it is one of our entries; our marks are left out."""
    found = []
    our_locks = False
    for line in text.splitlines():
        if line == LOCK_MARK:
            our_locks = True
            continue
        found.append((our_locks, line))
        our_locks = False
    return found


def our_locks(text: str) -> dict[str, str]:
    """The names that we lock, with the version of each."""
    return dict(lock(line) for mine, line in _entries(text) if mine)


def foreign_locks(text: str) -> list[str]:
    """Names (globs) that the operator locks."""
    names = [lock(line)[0] for mine, line in _entries(text) if not mine]
    return [name for name in names if name]


def edit_locks(text: str, add: Collection[str], drop: Collection[str], have: Mapping[str, Installed]) -> str:
    """The file with our entries for ``add`` at their installed versions, without ``drop``.

    Ours come last and in order of their names, so that the same holds give the same bytes.
    """
    lines = [line for mine, line in _entries(text) if not mine]
    kept = {lock(line)[0]: line for mine, line in _entries(text) if mine and lock(line)[0] not in {*add, *drop}}
    for name in add:
        if name in have:
            number = have[name].version
            kept[name] = f"{name}-{number if ':' in number else f'0:{number}'}.*"
    for name in sorted(kept):
        lines += [LOCK_MARK, kept[name]]
    return "\n".join(lines) + "\n" if lines else ""
