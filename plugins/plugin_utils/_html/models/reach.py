# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reached whom by ping, TCP and RDMA: counted, and what was lost or not tested in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
    MOVED,
    UNTESTED,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.outcome import PROVED
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict, as_list
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models.text import (
    Names,
    brief,
    cut,
    names,
)

ROWS = 150
REASONS = 60

Said = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A way that was tried and is not well. ``over``: rail, port or test; ``said``: what came."""

    client: str
    server: str
    over: str
    state: str
    said: str


@dataclass(frozen=True)
class Untested:
    """Ways that were not tried, by whose fault and why."""

    culprit: str
    why: str
    count: int
    ways: Names


@dataclass(frozen=True)
class Reach:
    """``good``, ``bad``, ``untested``: ways. ``counts``: of all that were tried, by outcome."""

    good: int
    bad: int
    counts: list[tuple[str, int]]
    pairs: list[Pair]
    untested: list[Untested]
    left_out: int
    more: int = 0
    more_reasons: int = 0


def tcp(run: Said) -> Reach | None:
    """None where none were planned."""

    def state(one: Said) -> str:
        return "" if one.get("untested") else brief(one.get("outcome") or "", 20)

    def pair(one: Said) -> Pair:
        return _pair(one, one.get("port"), state(one), one.get("said") or "")

    return _reach(as_list(run.get("tcp")), state, PROVED, pair)


def rdma(run: Said) -> Reach | None:
    """None where no data was to be moved."""

    def state(one: Said) -> str:
        told = str(one.get("state"))
        return "" if told == UNTESTED else brief(told, 20)

    def pair(one: Said) -> Pair:
        over = " ".join(str(one.get(key) or "") for key in ("rail", "where", "test"))
        said = ": ".join(str(one[key]) for key in ("kind", "said") if one.get(key))
        return _pair(one, over, state(one), said)

    return _reach(as_list(run.get("rdma")), state, (MOVED,), pair)


def _pair(one: Said, over: object, state: str, said: object) -> Pair:
    client, server = (str(one.get(end) or "") for end in ("client", "server"))
    return Pair(client, server, brief(over, 60), state, brief(said))


def _reach(
    raw: Iterable[Any],
    state: Callable[[Said], str],
    good: Iterable[str],
    pair: Callable[[Said], Pair],
) -> Reach | None:
    every = [as_dict(one) for one in raw]
    if not every:
        return None
    states = [state(one) for one in every]
    counted = Counter(one for one in states if one)
    fine = set(good)
    bad = [one for one, said in zip(every, states, strict=True) if said and said not in fine]
    skipped: dict[tuple[str, str], list[Said]] = {}
    for one, said in zip(every, states, strict=True):
        if not said:
            why = one.get("untested") or one.get("said") or ""
            skipped.setdefault((str(one.get("culprit") or ""), brief(why)), []).append(one)
    reasons = [_untested(key, some, pair) for key, some in skipped.items()]
    reasons.sort(key=lambda one: -one.count)
    shown, more = cut(bad, ROWS)
    told, more_reasons = cut(reasons, REASONS)
    return Reach(
        sum(times for said, times in counted.items() if said in fine),
        len(bad),
        counted.most_common(12),
        [pair(one) for one in shown],
        told,
        sum(len(some) for some in skipped.values()),
        more,
        more_reasons,
    )


def _untested(key: tuple[str, str], some: list[Said], pair: Callable[[Said], Pair]) -> Untested:
    ways = (f"{one.client} → {one.server} {one.over}" for one in map(pair, some[:4]))
    found = names((brief(way, 80) for way in ways), 3)
    return Untested(*key, len(some), Names(found.shown, len(some) - len(found.shown)))
