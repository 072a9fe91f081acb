# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of one ibping run, as playbooks/tasks/ping.yml walks through it (walk.py) and the report
reads it.

It holds names, and every port once: with 2,000 hosts, questions written out would be 128,000.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._hosts.rounds import Participant
from . import cost
from .schedule import FULL, ROUNDS, Desired, Schedule, schedule

# How many rails of a host ask at a time: the ports of a usual node.
AT_ONCE = 8
# The servers' lease beyond the worst case, in seconds.
_SPARE = 60


@dataclass(frozen=True)
class Options:
    """What the site says; ``budget`` in seconds, 0 for no limit."""

    deadline: int
    full: int = FULL
    rounds: int = ROUNDS
    seed: int = 0
    budget: int = 0
    forks: int = 1
    at_once: int = AT_ONCE
    leaves: Mapping[tuple[str, str], str] = field(default_factory=dict)


def plan(hosts: Mapping[str, Participant], options: Options) -> dict[str, Any]:
    """The plan over what the hosts told.

    ``serve``: host -> ports that answer. ``ask``: client -> its servers of each visit, one a round.
    ``ports``: host -> rail -> device, port number and LID. ``lease``: seconds that servers live.
    ``visit_s``: seconds of the longest visit.
    ``sampled``, ``rounds``, ``wanted``, ``seed``, ``budget_s``, ``worst_s``: see ``why``.
    """
    able = {name: who for name, who in hosts.items() if who.rails}
    most = max((len(who.rails) for who in able.values()), default=0)
    price = cost.Cost(len(able), most, options.forks, options.deadline, options.at_once)
    fit = price.fit(options.budget) if options.budget else None
    desired = Desired(options.full, options.rounds, options.seed, fit)
    made = schedule({name: set(who.rails) for name, who in able.items()}, desired, options.leaves)
    worst = price.worst_s(len(made.rounds))
    ask = _ask(list(able), made)
    return {
        "sampled": made.sampled,
        "full_mesh": options.full,
        "seed": options.seed,
        "rounds": len(made.rounds),
        "wanted": made.wanted,
        "budget_s": options.budget,
        "worst_s": worst,
        "lease": worst + _SPARE,
        "visit_s": price.visit_s(len(made.rounds)),
        "why": _why(made, options, price),
        "visits": cost.visits(len(made.rounds)),
        "hosts": list(able),
        "serve": {
            name: [{"device": rail.device, "port": rail.port} for rail in able[name].rails.values()] for name in ask
        },
        "ask": ask,
        "ports": {
            name: {key: [rail.device, rail.port, rail.lid] for key, rail in able[name].rails.items()} for name in ask
        },
        "hostnames": {name: able[name].hostname for name in ask},
        "leaves": [[*at, leaf] for at, leaf in options.leaves.items()],
    }


def _ask(names: Sequence[str], made: Schedule) -> dict[str, list[list[str]]]:
    """Both ask each other in the same round."""
    ask: dict[str, list[list[str]]] = {name: [] for name in names}
    for number, met in enumerate(made.rounds):
        visit = number // cost.VISIT
        for pair in met:
            for entry, two in (pair, pair[::-1]):
                mine = ask[entry]
                mine += [[] for _turn in range(visit + 1 - len(mine))]
                mine[visit].append(two)
    return {name: mine for name, mine in ask.items() if mine}


def _why(made: Schedule, options: Options, price: cost.Cost) -> str:
    """Why not all pairs are asked; "" where they are."""
    reported = []
    if made.sampled and price.hosts > options.full:
        reported.append(
            f"{price.hosts:,} hosts are more than ibready_ping_full_mesh ({options.full}): {made.wanted} random rounds"
        )
    if len(made.rounds) < made.wanted:
        reported.append(
            f"ibready_ping_budget ({options.budget} s) holds {len(made.rounds)} of {made.wanted} "
            f"rounds, of at most {price.round_s} s each"
        )
    return "; ".join(reported)
