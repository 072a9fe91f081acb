# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what dnf 4 and rpm print in the C locale: text in, facts out."""

from __future__ import annotations

import re
from functools import cmp_to_key
from typing import Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._packages import rpm_version
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    Installed,
)

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
_SIZE = re.compile(
    r"(Total download size|Total size|Installed size|Freed space): ([0-9.]+) ?([kMGT]?)"
)
_UNIT = {"": 1, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# name-[epoch:]version-release, the architecture as a star.
_LOCK = re.compile(r"(.+)-(?:([0-9]+):)?([^-\s]+)-([^-\s]+?)(?:\.\*|\.[a-z0-9_]+)?")
ABORTED = "Operation aborted"


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
    for one in packages(text):
        found.setdefault(one.name, set()).add(one.version)
    order = cmp_to_key(rpm_version.compare)
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


def _change(
    name: str, arch: str, after: str, have: Mapping[str, Installed], act: str = ""
) -> Change:
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
