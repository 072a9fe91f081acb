# SPDX-License-Identifier: GPL-3.0-or-later
"""Put causes in order: what explains others first, then by what is lost and by whom; what is said of each."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...module_utils._ground.check import FAIL, SEVERITIES, UNKNOWN, Check
from ...module_utils._ground.equals import SAY_WHICH
from ...module_utils._verify.catalog import CATALOG
from ...module_utils._verify.fold import FIRST
from . import acts, command
from .candidates import Candidate
from .finding import Finding
from .loss import Loss, loss
from .parts import Parts
from .row import CONFIDENCE, Effect, Fix

Hosts = Mapping[str, Mapping[str, Any]]

# So much of the worst is nothing much worse.
_NEAR = 0.5


@dataclass(frozen=True)
class Cause:
    """``rank``: 1 is the likeliest reason. ``error``: it keeps hosts from being ready, or explains
    or hides what does. ``subjects``: what of the hosts it is about.

    ``loss``: the share of bandwidth that is gone, 0 to 1; ``computed`` from the evidence, and not
    the usual one of such a cause. ``evidence`` are the checks that show it, ``explains`` failures
    of others that follow from it, ``hides`` what could not be looked at because of it.
    ``mends``: whether the command is all that is to do; else ``note`` says what hands have to do.
    ``acts``: what it takes, host by host.
    """

    rank: int
    error: bool
    id: str
    title: str
    hosts: Sequence[str]
    subjects: Sequence[str]
    effect: str
    costs: str
    loss: float
    computed: bool
    evidence: Sequence[Finding]
    explains: Sequence[Finding]
    hides: Sequence[Finding]
    command: str
    mends: bool
    note: str
    confidence: str
    source: str
    acts: Sequence[acts.Act] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("evidence", "explains", "hides"):
            found[name] = [finding.to_dict() for finding in found[name]]
        found["acts"] = [act.to_dict() for act in self.acts]
        return {**found, "hosts": list(self.hosts), "subjects": list(self.subjects), "loss": round(self.loss, 3)}


def ranked(left: Sequence[Candidate], hosts: Hosts, parts: Mapping[str, Parts], where: command.Where) -> list[Cause]:
    """The causes, ranks from 1.

    Errors before warnings; by loss (its own, or that of the worst of what it explains), then by how
    many hosts have it, then by how sure it is, then in the table's order. What explains a part of another goes before
    it, whatever either costs.
    """
    known = {id(rest): _worst(rest, hosts) for rest in left}
    keys = {
        id(rest): (
            not _is_error(rest),
            -round(known[id(rest)][1].share, 3),
            -len(rest.hosts),
            CONFIDENCE.index(rest.row.confidence),
            rest.at,
            rest.hosts,
            [finding.check.subject for finding in rest.own],
        )
        for rest in left
    }
    waits = [len(rest.above) for rest in left]
    below: dict[int, list[int]] = {}
    for at, item in enumerate(left):
        for above in item.above:
            below.setdefault(id(above), []).append(at)
    ready = [(keys[id(rest)], at) for at, rest in enumerate(left) if not waits[at]]
    heapq.heapify(ready)
    order: list[Candidate] = []
    while ready:
        item = left[heapq.heappop(ready)[1]]
        order.append(item)
        for at in below.get(id(item), ()):
            waits[at] -= 1
            if not waits[at]:
                heapq.heappush(ready, (keys[id(left[at])], at))
    return [_cause(number, entry, *known[id(entry)], parts, where) for number, entry in enumerate(order, 1)]


def _is_error(candidate: Candidate) -> bool:
    findings = (*candidate.own, *(finding for _unused, finding in candidate.explained), *candidate.hidden)
    return any(finding.check.severity == SEVERITIES[0] for finding in findings)


def _worst(candidate: Candidate, hosts: Hosts) -> tuple[Effect, Loss]:
    """What it costs: itself, or the worst of what it explains; in its own words unless that is
    something much worse."""
    own = loss(candidate.row, candidate.own, hosts)
    worst = (candidate.row.effect, own)
    for row, finding in candidate.explained:
        other = loss(row, [finding], hosts)
        if other.share > worst[1].share:
            worst = (row.effect, other)
    return (candidate.row.effect if own.share >= _NEAR * worst[1].share else worst[0]), worst[1]


def _fix(candidate: Candidate) -> Fix:
    """The row's; where its findings have one remedy of their own, that is what hands do, and a command of which it does
    not speak mends something else. A finding with no more than its check's words takes nothing away from another's."""
    fix, first = candidate.row.fix, candidate.own[0].check
    known = CATALOG.get(first.id)
    others = {entry.check.remedy for entry in candidate.own if not _plain(entry.check)}
    own = first.remedy if others == {first.remedy} else ""
    if known is None or own in ("", known.remedy) or first.result != FAIL or FIRST.match(own) or fix.play:
        return fix
    if not fix.mends:
        return replace(fix, note=own)
    same = all(word in own for word in fix.words if "{" not in word)
    return fix if same or not fix.otherwise else Fix(words=fix.otherwise, mends=False, note=own)


def _plain(check: Check) -> bool:
    """Whether its remedy is the one that the catalog has for every failure of this check."""
    entry = CATALOG.get(check.id)
    return entry is not None and check.remedy == entry.remedy


def _cause(
    number: int, candidate: Candidate, effect: Effect, lost: Loss, parts: Mapping[str, Parts], where: command.Where
) -> Cause:
    first = candidate.own[0]
    names = list(dict.fromkeys(finding.host for finding in candidate.own))
    fix = _fix(candidate)
    split = all(finding.split for finding in candidate.own)
    if split and not fix.play:
        # What mends the odd one would take either of these for it; a plan's version is a wish.
        fix = Fix(words=fix.otherwise or fix.words, mends=False, note=SAY_WHICH)
    # What is told of a job alone is looked at on all hosts.
    there = [name for name in names if name in parts or name in where.asked] or list(parts)
    reported = command.line(fix, there, command.values(first, parts.get(first.host)), where)
    note = fix.note
    if first.check.result == UNKNOWN and not split and first.check.remedy:
        # Nobody saw what is wrong, and the check says how to.
        others = len({finding.check.remedy for finding in candidate.own}) > 1
        note = f"{first.check.remedy} (so for {first.host})" if others else first.check.remedy
    if not reported:
        note = "; ".join(part for part in (command.NO_NAME, note) if part)
    return Cause(
        rank=number,
        error=_is_error(candidate),
        id=candidate.row.id,
        title=candidate.row.title,
        hosts=names,
        subjects=list(dict.fromkeys(finding.check.subject for finding in candidate.own)),
        effect=effect.id,
        costs=effect.says,
        loss=lost.share,
        computed=lost.computed,
        evidence=candidate.own,
        explains=[finding for _unused, finding in candidate.explained],
        hides=candidate.hidden,
        command=reported,
        mends=fix.mends,
        note=note,
        confidence=CONFIDENCE[-1] if split or all(one.claimed for one in candidate.own) else candidate.row.confidence,
        source=candidate.row.source,
        acts=acts.of(fix, candidate.own, parts),
    )
