# SPDX-License-Identifier: GPL-3.0-or-later
"""The failing and unknown checks of a report, each with the part of the host that it is about.

What could not be looked at and no cause explains is told apart, and never taken for healthy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...module_utils._ground.check import FAIL, UNKNOWN, Check, from_dict
from ...module_utils._ground.equals import CLAIMED, NO_MAJORITY
from .._hosts.nameless import nameless, own
from .parts import HCA, Parts

ACCESS = "host.access.reachable"
# The "host" of what is told of a job and of none of its hosts.
JOB = "the job"
# How nccl.log.errors names the HCA of a completion.
_OVER = re.compile(r", over ([A-Za-z0-9_]{1,63})(?:,|$)")


@dataclass(frozen=True)
class Finding:
    """One check of one host that is not well.

    ``part``: what of the host it is about (``hca:mlx5_3``), "" for all of it. ``text``: all that a
    sign may look for.
    """

    host: str
    check: Check
    part: str = ""
    text: str = ""

    @property
    def split(self) -> bool:
        """Whether equals differ, and nobody can tell which of them is right."""
        return self.check.cause.startswith(NO_MAJORITY)

    @property
    def claimed(self) -> bool:
        """Whether several claim what has to be one's own, and nobody can tell whose it is."""
        return self.check.cause.startswith(CLAIMED)

    @property
    def wrong(self) -> bool:
        """Whether something is wrong, rather than not looked at.

        Hosts that differ without a majority are wrong, whichever of them it is, and so is a host that does not answer.
        """
        split = self.split and self.check.id.startswith("fleet.")
        known = split or self.claimed or self.check.id == ACCESS
        return self.check.result == FAIL or (self.check.result == UNKNOWN and known)

    def shared(self, text: str) -> str:
        """What is said of it as other hosts would say it of themselves."""
        return nameless(own(self.host, [self.check.evidence]), text)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        entry = self.check
        return {
            "host": self.host,
            "check": entry.id,
            "subject": entry.subject,
            "result": entry.result,
            "severity": entry.severity,
            "observed": entry.observed,
            "expected": entry.expected,
            "expected_from": entry.expected_from,
            "cause": entry.cause,
        }


def of_report(report: Mapping[str, Any]) -> tuple[list[Finding], list[Finding]]:
    """All that is not well in the report's hosts and fabrics, and apart from it what is waived.

    What a fabric tells of a host's port is the host's, and told once where both say the same.
    """
    known = {name: Parts(host["facts"]) for name, host in report["hosts"].items()}
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for name, place in {**report["hosts"], **fabrics(report)}.items():
        bad = (from_dict(check) for check in place["checks"] if check["result"] in (FAIL, UNKNOWN))
        for item in (of(name, check, known) for check in bad):
            subject = item.check.subject.removeprefix(f"{item.host} ")
            same = found.setdefault((item.host, item.check.id, subject), [])
            if name in known or _weighs(item) not in map(_weighs, same):
                same.append(item)
    every = [item for some in found.values() for item in some]
    return [item for item in every if not item.check.waived], [item for item in every if item.check.waived]


def _weighs(item: Finding) -> tuple[str, bool]:
    return item.check.result, bool(item.check.waived)


def fabrics(report: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What was judged of fabrics, by ``fabric NAME``; the one that is called just that, so."""
    reported = (report.get("fabric") or {}).get("fabrics") or ()
    return {_fabric(str(entry["name"]), report["hosts"]): entry for entry in reported}


def _fabric(name: str, hosts: Mapping[str, Any]) -> str:
    return name if name == "fabric" and name not in hosts else f"fabric {name}"


def of(host: str, check: Check, known: Mapping[str, Parts]) -> Finding:
    """A check's finding; one of the fabric's tools may be about another host than was asked."""
    where, subject = host, check.subject
    first, _mark, rest = subject.partition(" ")
    if rest and check.id.startswith("fabric."):
        named = _host_named(first, known)
        if named:
            where, subject = named, rest
    parts = known.get(where)
    part = parts.of(subject) if parts else ""
    if not part and check.id.startswith("fabric."):
        # A port that is none of a host's own, as the fabric's tools name it.
        part = f"at:{subject}"
    kind = f"[{parts.kind(part)}]" if parts else ""
    return Finding(where, check, part, f"{check.observed} | {check.expected} | {check.cause} | {subject} {kind}")


def of_job(checks: Mapping[str, Sequence[Check]]) -> tuple[list[Finding], list[Finding]]:
    """The same of a job's log, whose checks are told by host, or of the job itself."""
    found: list[Finding] = []
    waived: list[Finding] = []
    for host, mine in checks.items():
        for check in mine:
            if check.result in (FAIL, UNKNOWN):
                text = f"{check.observed} | {check.expected} | {check.cause} | {check.subject} []"
                named = _OVER.search(check.observed)
                part = f"{HCA}:{named[1]}" if named else ""
                (waived if check.waived else found).append(Finding(host, check, part, text))
    return found, waived


def _host_named(word: str, known: Mapping[str, Parts]) -> str:
    for name, parts in known.items():
        if word in (name, parts.hostname):
            return name
    return ""


@dataclass(frozen=True)
class Unlooked:
    """Checks that were not made for one reason. ``severity``: error where any of them is one.

    ``words_of``: the host in whose words ``why`` and ``next`` are, where others say the same of themselves; else "".
    ``findings``: these checks, each of the host that it is about.
    """

    checks: Sequence[str]
    hosts: Sequence[str]
    subjects: Sequence[str]
    why: str
    next: str
    severity: str
    words_of: str
    findings: Sequence[Finding]

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without the findings."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "findings"}


def grouped(blind: Sequence[Finding]) -> list[Unlooked]:
    """By reason and remedy; errors first, then what most checks wait for."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in blind:
        alike = finding.shared(finding.check.cause), finding.shared(finding.check.remedy)
        groups.setdefault(alike, []).append(finding)
    found = [
        Unlooked(
            checks=sorted({finding.check.id for finding in mine}),
            hosts=list(dict.fromkeys(finding.host for finding in mine)),
            subjects=sorted({finding.check.subject for finding in mine}),
            why=mine[0].check.cause,
            next=mine[0].check.remedy,
            severity=min(finding.check.severity for finding in mine),
            words_of="" if len({(entry.check.cause, entry.check.remedy) for entry in mine}) == 1 else mine[0].host,
            findings=mine,
        )
        for mine in groups.values()
    ]
    return sorted(found, key=lambda item: (item.severity, -len(item.hosts), -len(item.checks), item.why))
