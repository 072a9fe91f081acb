# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reached whom by ping, TCP and RDMA: counted, and what was lost or not tested in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .....module_utils._between.tcp.tried import PROVED
from .....module_utils._data.rdma_tests import MOVED, UNTESTED
from ...._ground.dicts import as_dict, as_list
from .text import Names, brief, cut, names

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

    def state(said: Said) -> str:
        return "" if said.get("untested") else brief(said.get("outcome") or "", 20)

    def pair(said: Said) -> Pair:
        return _pair(said, said.get("port"), state(said), said.get("said") or "")

    return _reach(as_list(run.get("tcp")), state, PROVED, pair)


def rdma(run: Said) -> Reach | None:
    """None where no data was to be moved."""

    def state(said: Said) -> str:
        reported = str(said.get("state"))
        return "" if reported == UNTESTED else brief(reported, 20)

    def pair(entry: Said) -> Pair:
        over = " ".join(str(entry.get(key) or "") for key in ("rail", "where", "test"))
        said = ": ".join(str(entry[key]) for key in ("kind", "said") if entry.get(key))
        return _pair(entry, over, state(entry), said)

    return _reach(as_list(run.get("rdma")), state, (MOVED,), pair)


def _pair(entry: Said, over: object, state: str, said: object) -> Pair:
    client, server = (str(entry.get(end) or "") for end in ("client", "server"))
    return Pair(client, server, brief(over, 60), state, brief(said))


def _reach(
    raw: Iterable[Any], state: Callable[[Said], str], good: Iterable[str], pair: Callable[[Said], Pair]
) -> Reach | None:
    every = [as_dict(entry) for entry in raw]
    if not every:
        return None
    states = [state(entry) for entry in every]
    counted = Counter(state for state in states if state)
    fine = set(good)
    bad = [entry for entry, said in zip(every, states, strict=True) if said and said not in fine]
    skipped: dict[tuple[str, str], list[Said]] = {}
    for item, said in zip(every, states, strict=True):
        if not said:
            why = item.get("untested") or item.get("said") or ""
            skipped.setdefault((str(item.get("culprit") or ""), brief(why)), []).append(item)
    reasons = [_untested(key, some, pair) for key, some in skipped.items()]
    reasons.sort(key=lambda reason: -reason.count)
    shown, more = cut(bad, ROWS)
    reported, more_reasons = cut(reasons, REASONS)
    return Reach(
        sum(times for said, times in counted.items() if said in fine),
        len(bad),
        counted.most_common(12),
        [pair(entry) for entry in shown],
        reported,
        sum(len(some) for some in skipped.values()),
        more,
        more_reasons,
    )


def _untested(key: tuple[str, str], some: list[Said], pair: Callable[[Said], Pair]) -> Untested:
    ways = (f"{entry.client} → {entry.server} {entry.over}" for entry in map(pair, some[:4]))
    found = names((brief(way, 80) for way in ways), 3)
    return Untested(*key, len(some), Names(found.shown, len(some) - len(found.shown)))
