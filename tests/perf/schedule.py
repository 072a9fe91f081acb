# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plan of the pings costs for fleets of up to 2,000 hosts with 8 rails each.

Beside it stands a full mesh that is written out: every round of a round-robin tournament, and
every pair of it on every rail. The hosts hang on leaf switches of 32 ports, one switch a rail.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.plan import Options, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.walk import of_visit, planned
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import (
    Participant,
    Rail,
    meetings,
    tournament,
)

SIZES = (125, 250, 500, 1000, 2000)
RAILS = [f"mlx5_{number}/1" for number in range(8)]
LEAF = 32
FORKS = 50
RUNS = 3
# What the largest plan may cost.
MOST_S = 1.0


def fleet(count: int) -> dict[str, Participant]:
    """So many hosts, as ibverify saw them."""
    return {
        f"node{number:04}": Participant(
            {
                rail: Rail(rail, rail.split("/")[0], 1, 1 + number * len(RAILS) + index)
                for index, rail in enumerate(RAILS)
            },
            {},
            f"node{number:04}",
        )
        for number in range(count)
    }


def leaves(hosts: dict[str, Participant]) -> dict[tuple[str, str], str]:
    return {(host, rail): f"{rail} leaf {number // LEAF}" for number, host in enumerate(hosts) for rail in RAILS}


def naive(count: int) -> int:
    """Every pair on every rail, written out round by round; returns how many there were."""
    made = 0
    for number in range(tournament(count)):
        met = meetings(count, number)
        made += len([(*way, rail) for pair in met for way in (pair, pair[::-1]) for rail in RAILS])
    return made


def timed(make: Any) -> tuple[float, Any]:
    """The least CPU seconds of several runs, and what it made."""
    best, made = float("inf"), None
    for _ in range(RUNS):
        begun = time.process_time()
        made = make()
        best = min(best, time.process_time() - begun)
    return best, made


def ways(made: dict[str, Any], of: dict[tuple[str, str], str]) -> str:
    """How many of all pairs of leaf switches are tried, on one rail."""
    rail = RAILS[0]
    seen = {frozenset((of[one, rail], of[two, rail])) for one, two in planned(made)}
    switches = len({leaf for (_, on), leaf in of.items() if on == rail})
    return f"{sum(len(one) > 1 for one in seen)}/{switches * (switches - 1) // 2}"


def main() -> int:
    """Print the table; status 1 where the largest plan is too slow or leaves a rail out."""
    print(
        "| hosts | plan, CPU ms | of one host's questions, ms | rounds | tasks | questions "
        "| pairs of leaves | plan, KB | full mesh, CPU s | rounds | questions |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    seconds = 0.0
    for count in SIZES:
        hosts = fleet(count)
        of = leaves(hosts)
        seconds, made = timed(lambda: plan(hosts, Options(15, seed=1, forks=FORKS, leaves=of)))  # noqa: B023
        asking, _ = timed(lambda: [of_visit(made, host, 0) for host in hosts])  # noqa: B023
        pairs = planned(made)
        partners = Counter(client for client, _ in pairs)
        if min(partners[host] for host in hosts) < made["rounds"] - count % 2:
            print(f"{count} hosts: a host was left out", file=sys.stderr)
            return 1
        begun = time.process_time()
        all_of_them = naive(count)
        mesh = time.process_time() - begun
        print(
            f"| {count:,} | {1000 * seconds:.0f} | {1000 * asking / count:.2f} | {made['rounds']} "
            f"| {made['visits']} | {len(pairs) * len(RAILS):,} | {ways(made, of)} "
            f"| {len(json.dumps(made)) // 1024:,} | {mesh:.2f} | {tournament(count):,} "
            f"| {all_of_them:,} |"
        )
    print(
        f"\nShould every question use up its deadline of 15 s, the sample of {SIZES[-1]:,} hosts "
        f"takes {made['worst_s']:,} s with {FORKS} forks."
    )
    return int(seconds >= MOST_S)


if __name__ == "__main__":
    sys.exit(main())
