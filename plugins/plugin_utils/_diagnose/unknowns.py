# SPDX-License-Identifier: GPL-3.0-or-later
"""What could not be looked at and no cause explains: told apart, and never for healthy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding


@dataclass(frozen=True)
class Unlooked:
    """Checks that were not made for one reason. ``severity``: error where any of them is one."""

    checks: Sequence[str]
    hosts: Sequence[str]
    subjects: Sequence[str]
    why: str
    next: str
    severity: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "checks": list(self.checks),
            "hosts": list(self.hosts),
            "subjects": list(self.subjects),
            "why": self.why,
            "next": self.next,
            "severity": self.severity,
        }


def grouped(blind: Sequence[Finding]) -> list[Unlooked]:
    """By reason and remedy; errors first, then what most checks wait for."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in blind:
        groups.setdefault((one.check.cause, one.check.remedy), []).append(one)
    found = [
        Unlooked(
            checks=sorted({one.check.id for one in mine}),
            hosts=list(dict.fromkeys(one.host for one in mine)),
            subjects=sorted({one.check.subject for one in mine}),
            why=why,
            next=remedy,
            severity=min(one.check.severity for one in mine),
        )
        for (why, remedy), mine in groups.items()
    ]
    return sorted(found, key=lambda one: (one.severity, -len(one.hosts), -len(one.checks), one.why))
