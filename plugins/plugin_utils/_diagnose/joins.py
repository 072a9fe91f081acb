# SPDX-License-Identifier: GPL-3.0-or-later
"""Which findings of one cause are one fault, on whichever hosts they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

from .finding import Finding

_GUID = re.compile(r"\b0x([0-9a-fA-F]{1,16})\b")
_WORD = re.compile(r"[^\s,;:()]+")

Marks = set[Hashable]


def _pairs(finding: Finding, hosts: Collection[str]) -> Marks:
    """Two hosts that name each other are one pair; what else a host has of the cause is the host's."""
    others = {word for word in _WORD.findall(finding.check.observed) if word in hosts}
    return {finding.host, *(frozenset((finding.host, other)) for other in others)}


def _guids(finding: Finding, _hosts: Collection[str]) -> Marks:
    """All that have a GUID, and all GUIDs of a device."""
    found = _GUID.findall(f"{finding.check.observed} {finding.check.subject}")
    return {(finding.host, finding.part), *(int(text, 16) for text in found)}


def _words(finding: Finding, _hosts: Collection[str]) -> Marks:
    """Hosts of which the same is told, each in its own name."""
    return {(finding.shared(finding.check.cause), finding.shared(finding.check.remedy))}


BY: Mapping[str, Callable[[Finding, Collection[str]], Marks]] = {"pairs": _pairs, "guids": _guids, "words": _words}


def faults(by: str, findings: Sequence[Finding], hosts: Collection[str]) -> list[list[Finding]]:
    """The findings that have a mark in common, directly or by others, in the order in which they were found."""
    groups: dict[int, list[int]] = {}
    of_mark: dict[Hashable, int] = {}
    of_finding: list[int] = []
    for at, finding in enumerate(findings):
        marks = BY[by](finding, hosts)
        near = sorted({of_finding[of_mark[mark]] for mark in marks if mark in of_mark})
        home = near[0] if near else at
        of_finding.append(home)
        groups.setdefault(home, []).append(at)
        for other in near[1:]:
            for moved in groups.pop(other):
                of_finding[moved] = home
                groups[home].append(moved)
        of_mark.update(dict.fromkeys(marks, at))
    return [[findings[at] for at in sorted(group)] for group in groups.values()]
