# SPDX-License-Identifier: GPL-3.0-or-later
"""A diagnosis as text for a terminal: ranked causes, then what was not looked at."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...module_utils._ground.text import few
from .._slurm import hostlist
from .diagnosis import Diagnosis
from .finding import Finding, Unlooked
from .rank import Cause
from .table import effects

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
    for cause in diagnosis.causes[:most]:
        lines += ["", *_cause(cause, diagnosis.hosts)]
    rest = diagnosis.causes[most:]
    if rest:
        lines += ["", f"and {len(rest)} more: {_some([f'{entry.rank}. {entry.id}' for entry in rest])}"]
    if diagnosis.unknown:
        lines += ["", "NOT CHECKED, so not known to be OK:"]
        for unlooked in diagnosis.unknown[:most]:
            lines += _unlooked(unlooked)
        if len(diagnosis.unknown) > most:
            lines.append(f"  and {len(diagnosis.unknown) - most} more, in the JSON file")
    if diagnosis.waived:
        lines += ["", "WAIVED:"]
        lines += [f"  {_said(finding)} (waived {plain(finding.check.waived)})" for finding in diagnosis.waived]
    lines += [line for note in notes for line in ("", f"NOTE: {plain(note)}")]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Foreign text in one line without control characters, cut where nobody would read on."""
    line = "".join(entry if entry.isprintable() else " " for entry in " ".join(text.split()))
    return line if len(line) <= _LONG else f"{line[:_LONG]}..."


def _cause(cause: Cause, hosts: Collection[str]) -> list[str]:
    about = "" if set(cause.subjects) <= _NOTHING else f": {_some(cause.subjects)}"
    # A fabric is none of the hosts.
    mine = sum(name in hosts for name in cause.hosts)
    count = f" ({mine} of {len(hosts)} hosts)" if mine and len(hosts) > 1 else ""
    lines = [
        f"{cause.rank}. {cause.title} [{cause.id}, {cause.confidence}]",
        f"   where:    {_hosts(cause.hosts)}{count}{about}",
        f"   costs:    {cause.costs}{_share(cause)}",
    ]
    for number, finding in enumerate(cause.evidence[:_SHOWN]):
        lines.append(f"   {'evidence:' if not number else '         '} {_said(finding)}")
    if len(cause.evidence) > _SHOWN:
        lines.append(f"             and {len(cause.evidence) - _SHOWN} more like these")
    why = dict.fromkeys(finding.check.cause for finding in cause.evidence if finding.check.cause)
    lines += [f"   because:  {plain(next(iter(why)))}"] if why else []
    if cause.explains:
        ids = dict.fromkeys(f"{finding.check.id} on {finding.host}" for finding in cause.explains)
        lines.append(f"   explains: {_some(list(ids))}")
    if cause.hides:
        ids = dict.fromkeys(finding.check.id for finding in cause.hides)
        lines.append(f"   hides:    {_some(list(ids))}")
    if cause.command:
        lines.append(f"   {'fix:     ' if cause.mends else 'inspect: '} {cause.command}")
    if cause.note:
        lines.append(f"   {'note:    ' if cause.mends else 'by hand: '} {cause.note}")
    return lines


def _share(cause: Cause) -> str:
    if cause.loss >= 1:
        return ": all of it"
    if not cause.computed and not effects()[cause.effect].bandwidth:
        return ""
    return f": {'' if cause.computed else 'about '}{100 * cause.loss:.3g} % of the bandwidth" + (
        "" if cause.computed else " (typical)"
    )


def _said(finding: Finding) -> str:
    check = finding.check
    text = f"{finding.host} {check.id} {check.subject}: {check.observed or check.cause}"
    if check.expected:
        text += f", expected {check.expected} ({check.expected_from})"
    return plain(text)


def _unlooked(unlooked: Unlooked) -> list[str]:
    words_of = f", in the words of {plain(unlooked.words_of)}" if unlooked.words_of else ""
    return [
        f"  {_some(unlooked.checks)} on {_hosts(unlooked.hosts)}{words_of}: {plain(unlooked.why)}",
        f"     next: {plain(unlooked.next)}",
    ]


def _hosts(names: Sequence[str]) -> str:
    return plain(hostlist.brief(names))


def _some(names: Sequence[str]) -> str:
    return few([plain(name) for name in names], _NAMES)
