# SPDX-License-Identifier: GPL-3.0-or-later
"""A diagnosis as text for a terminal: ranked causes, then what was not looked at."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.cause import Cause
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import Diagnosis
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.unknowns import Unlooked

MOST = 10
_SHOWN = 3
_NAMES = 6
_LONG = 240
# Subjects that say no more than where it is.
_NOTHING = {"host", "nccl_log"}


def render(diagnosis: Diagnosis, most: int = MOST, notes: Sequence[str] = ()) -> str:
    """Plain text, no colours; ``most`` causes in full, the others counted. ``notes``: what the
    diagnosis had to do without."""
    lines = [f"SIMULATED: {plain(diagnosis.simulated)}", ""] if diagnosis.simulated else []
    lines += [f"DIAGNOSIS: {diagnosis.answer}"]
    for one in diagnosis.causes[:most]:
        lines += ["", *_cause(one, len(diagnosis.hosts))]
    rest = diagnosis.causes[most:]
    if rest:
        lines += ["", f"and {len(rest)} more: {_some([f'{one.rank}. {one.id}' for one in rest])}"]
    if diagnosis.unknown:
        lines += ["", "NOT LOOKED AT, and so not known to be well:"]
        for unlooked in diagnosis.unknown[:most]:
            lines += _unlooked(unlooked)
        if len(diagnosis.unknown) > most:
            lines.append(f"  and {len(diagnosis.unknown) - most} more, in the JSON file")
    if diagnosis.waived:
        lines += ["", "WAIVED:"]
        lines += [f"  {_said(one)} (waived {plain(one.check.waived)})" for one in diagnosis.waived]
    lines += [line for note in notes for line in ("", f"NOTE: {plain(note)}")]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Foreign text in one line without control characters, cut where nobody would read on."""
    line = "".join(one if one.isprintable() else " " for one in " ".join(text.split()))
    return line if len(line) <= _LONG else f"{line[:_LONG]}..."


def _cause(one: Cause, hosts: int) -> list[str]:
    about = "" if set(one.subjects) <= _NOTHING else f": {_some(one.subjects)}"
    count = f" ({len(one.hosts)} of {hosts} hosts)" if hosts > 1 else ""
    lines = [
        f"{one.rank}. {one.title} [{one.id}, {one.confidence}]",
        f"   where:    {_some(one.hosts)}{count}{about}",
        f"   costs:    {one.costs}: {_share(one)}",
    ]
    for number, finding in enumerate(one.evidence[:_SHOWN]):
        lines.append(f"   {'evidence:' if not number else '         '} {_said(finding)}")
    if len(one.evidence) > _SHOWN:
        lines.append(f"             and {len(one.evidence) - _SHOWN} more like these")
    why = dict.fromkeys(finding.check.cause for finding in one.evidence if finding.check.cause)
    lines += [f"   because:  {plain(next(iter(why)))}"] if why else []
    if one.explains:
        ids = dict.fromkeys(f"{finding.check.id} on {finding.host}" for finding in one.explains)
        lines.append(f"   explains: {_some(list(ids))}")
    if one.hides:
        ids = dict.fromkeys(finding.check.id for finding in one.hides)
        lines.append(f"   hides:    {_some(list(ids))}")
    if one.command:
        lines.append(f"   {'mend:    ' if one.mends else 'look:    '} {one.command}")
    if one.note:
        lines.append(f"   {'note:    ' if one.mends else 'by hand: '} {one.note}")
    return lines


def _share(one: Cause) -> str:
    if one.loss >= 1:
        return "all of it"
    return f"{'' if one.computed else 'some '}{100 * one.loss:.3g} % of the bandwidth" + (
        "" if one.computed else ", by experience"
    )


def _said(finding: Finding) -> str:
    check = finding.check
    text = f"{finding.host} {check.id} {check.subject}: {check.observed or check.cause}"
    if check.expected:
        text += f", expected {check.expected} ({check.expected_from})"
    return plain(text)


def _unlooked(one: Unlooked) -> list[str]:
    return [
        f"  {_some(one.checks)} on {_some(one.hosts)}: {plain(one.why)}",
        f"     next: {plain(one.next)}",
    ]


def _some(names: Sequence[str]) -> str:
    told = ", ".join(plain(name) for name in names[:_NAMES])
    return told if len(names) <= _NAMES else f"{told} and {len(names) - _NAMES} more"
