# SPDX-License-Identifier: GPL-3.0-or-later
"""Put causes in order: what explains others first, then by what is lost and by whom."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.cause import Cause
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import Effect
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.loss import Loss, loss
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.parts import Parts
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import CONFIDENCE
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.values import values

Hosts = Mapping[str, Mapping[str, Any]]

# So much of the worst is nothing much worse.
_NEAR = 0.5


def ranked(
    left: Sequence[Candidate],
    hosts: Hosts,
    parts: Mapping[str, Parts],
    where: command.Where,
) -> list[Cause]:
    """The causes, ranks from 1.

    By loss (its own, or that of the worst of what it explains), then by how many hosts have it,
    then by how sure it is, then in the table's order. What explains a part of another goes before
    it, whatever either costs.
    """
    known = {id(one): _worst(one, hosts) for one in left}
    keys = {
        id(one): (
            -round(known[id(one)][1].share, 3),
            -len(one.hosts),
            CONFIDENCE.index(one.row.confidence),
            one.at,
            one.hosts,
            [finding.check.subject for finding in one.own],
        )
        for one in left
    }
    waits = [len(one.above) for one in left]
    below: dict[int, list[int]] = {}
    for at, one in enumerate(left):
        for above in one.above:
            below.setdefault(id(above), []).append(at)
    ready = [(keys[id(one)], at) for at, one in enumerate(left) if not waits[at]]
    heapq.heapify(ready)
    order: list[Candidate] = []
    while ready:
        one = left[heapq.heappop(ready)[1]]
        order.append(one)
        for at in below.get(id(one), ()):
            waits[at] -= 1
            if not waits[at]:
                heapq.heappush(ready, (keys[id(left[at])], at))
    return [
        _cause(number, one, *known[id(one)], parts, where) for number, one in enumerate(order, 1)
    ]


def _worst(one: Candidate, hosts: Hosts) -> tuple[Effect, Loss]:
    """What it costs: itself, or the worst of what it explains; in its own words unless that is
    something much worse."""
    own = loss(one.row, one.own, hosts)
    worst = (one.row.effect, own)
    for row, finding in one.explained:
        other = loss(row, [finding], hosts)
        if other.share > worst[1].share:
            worst = (row.effect, other)
    return (one.row.effect if own.share >= _NEAR * worst[1].share else worst[0]), worst[1]


def _cause(
    number: int,
    one: Candidate,
    effect: Effect,
    lost: Loss,
    parts: Mapping[str, Parts],
    where: command.Where,
) -> Cause:
    first = one.own[0]
    names = list(dict.fromkeys(finding.host for finding in one.own))
    fix = one.row.fix
    # What is told of a job alone is looked at on all hosts.
    there = [name for name in names if name in parts] or list(parts)
    told = command.line(fix, there, values(first, parts.get(first.host)), where)
    note = fix.note
    if not told:
        note = "; ".join(part for part in (command.NO_NAME, note) if part)
    return Cause(
        rank=number,
        id=one.row.id,
        title=one.row.title,
        hosts=names,
        subjects=list(dict.fromkeys(finding.check.subject for finding in one.own)),
        effect=effect.id,
        costs=effect.says,
        loss=lost.share,
        computed=lost.computed,
        evidence=one.own,
        explains=[finding for _, finding in one.explained],
        hides=one.hidden,
        command=told,
        mends=fix.mends,
        note=note,
        confidence=one.row.confidence,
        source=one.row.source,
    )
