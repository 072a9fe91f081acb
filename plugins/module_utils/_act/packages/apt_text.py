# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what apt and dpkg print in the C locale: text in, facts out."""

from __future__ import annotations

import re
from typing import Sequence

from .model import Change, Installed

# What dpkg-query is asked for, one package a line.
QUERY = "${db:Status-Want} ${db:Status-Eflag} ${db:Status-Status} ${Package} ${Architecture} "
QUERY += "${Version}\\n"
_GONE = ("not-installed", "config-files")
_WHOLE = ("installed", "triggers-pending", "triggers-awaited")

# Inst libc6 [2.36-9] (2.36-10 Debian:12/stable [amd64]) [extra ]
_INST = re.compile(r"Inst (\S+)(?: \[([^\]\s]*)\])? \((\S+)[^()]*(?:\([^()]*\)[^()]*)*\)")
_REMV = re.compile(r"(?:Remv|Purg) (\S+)(?: \[([^\]\s]*)\])?")
_ARCH = re.compile(r"\[([a-z0-9-]+)\]\)")
_FIELD = re.compile(r"^(Package|Version|(?:Installed-)?Size(?=: [0-9]{1,15}$)): (\S+)$", re.MULTILINE)


class TextError(ValueError):
    """This is not what the tool is known to print."""


def installed(text: str) -> tuple[Installed, ...]:
    """The packages of dpkg-query with `QUERY`; TextError names a line that is none."""
    found = []
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) != 6 or not words[3]:
            raise TextError(f"dpkg-query printed {line[:120]!r}")
        want, flag, status, name, arch, version = words
        if status in _GONE:
            continue
        whole = status in _WHOLE and flag == "ok"
        torn = status == "half-installed" or flag != "ok"
        found.append(Installed(name, version, arch, whole, held=want == "hold", torn=torn))
    return tuple(found)


def simulated(text: str) -> tuple[Change, ...]:
    """The changes of ``apt-get -s``, one a package; TextError for a line that is not understood."""
    down = _listed(text, "The following packages will be DOWNGRADED:")
    found: dict[str, Change] = {}
    for line in text.splitlines():
        if line.startswith("Inst "):
            match = _INST.match(line)
            if match is None:
                raise TextError(f"apt-get printed {line[:200]!r}")
            name, before, after = match.groups()
            arch = _ARCH.search(line)
            found[name] = Change(
                _plain(name),
                before or "",
                after,
                arch.group(1) if arch else "",
                name in down or _plain(name) in down,
            )
        elif line.startswith(("Remv ", "Purg ")):
            match = _REMV.match(line)
            if match is None:
                raise TextError(f"apt-get printed {line[:200]!r}")
            name = match.group(1)
            # A package may be taken away and come back within one transaction.
            found.setdefault(name, Change(_plain(name), match.group(2) or "", ""))
    return tuple(found.values())


def _plain(name: str) -> str:
    return name.partition(":")[0]


def _listed(text: str, heading: str) -> set[str]:
    """The names below a heading: the lines that begin with a blank."""
    found: set[str] = set()
    below = False
    for line in text.splitlines():
        if line == heading:
            below = True
        elif below and line.startswith(" "):
            found.update(line.split())
        else:
            below = False
    return found


def sizes(changes: Sequence[Change], text: str) -> tuple[int, int]:
    """Bytes to download and bytes that the disk will hold more (negative: less).

    ``text``: the paragraphs of ``apt-cache show`` of what comes and of what goes. TextError where a package comes
    whose size is not told; what it holds unpacked, an index may leave out.
    """
    known: dict[tuple[str | None, str | None], dict[str, str]] = {}
    for paragraph in re.split(r"\n{2,}", text):
        fields = dict(_FIELD.findall(paragraph))
        # What is installed is told of twice where a repository has it too, and only there with its size.
        known.setdefault((fields.get("Package"), fields.get("Version")), {}).update(fields)

    for change in changes:
        if change.after and "Size" not in known.get((change.name, change.after), {}):
            raise TextError(f"apt-cache tells no size of {change.name} {change.after}")

    def told(name: str, version: str, field: str) -> int:
        return int(known.get((name, version), {}).get(field, 0))

    download = sum(told(change.name, change.after, "Size") for change in changes)
    grows = sum(
        told(change.name, change.after, "Installed-Size") - told(change.name, change.before, "Installed-Size")
        for change in changes
    )
    return download, grows * 1024


def versions(text: str, addresses: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Names to versions, best first, of ``apt-cache madison``; only of those repositories."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 3 or not fields[2].endswith(" Packages"):
            continue
        if addresses is not None and not fields[2].startswith(tuple(addresses)):
            continue
        entry = found.setdefault(fields[0], [])
        if fields[1] not in entry:
            entry.append(fields[1])
    return {name: tuple(entry) for name, entry in found.items()}


def complaints(text: str) -> tuple[tuple[str, str], ...]:
    """The ``E:``, ``W:`` and ``Err:`` lines of apt-get update, as (letter, sentence)."""
    found = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line[:3] in ("E: ", "W: "):
            found.append((line[0], line[3:].strip()))
        elif line.startswith("Err:"):
            more = lines[number + 1].strip() if lines[number + 1 : number + 2] else ""
            found.append(("E", f"{line.partition(' ')[2].strip()} {more}".strip()))
    return tuple(found)
