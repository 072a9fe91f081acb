# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted faults of fabrics of 128 to 16,384 ports: how many are found, in how many rounds, and what it costs.

    python -m tests.perf.bisection --faults 10000

Most of the faults are of the smaller fabrics. Where the corpus lies beside the project, one fabric is real.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.engine import Bisection, most_rounds
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.net import Net
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import Parts
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.shapes import Bound
from tests.unit.corpus import CORPUS
from tests.unit.flow_model import KINDS, Planter, outcome, run, three_level, two_level
from tests.unit.flow_texts import net_of

TEXT = CORPUS / "ibnetdiscover" / "04-topograph-ndr-fabric.txt"
# What is asked for, in percent.
EXACT = 99.0
WRONG = 0.1
# Faults of a thousand by fabric; what is left is of the first.
SHARES = {"text": 80, "512": 250, "2,048": 60, "16,384": 2}


class Came(NamedTuple):
    """One fault's end."""

    kind: str
    fabric: str
    outcome: str
    rounds: int
    limit: int
    seconds: float


def fabrics() -> dict[str, Net]:
    """By name, the first of them the smallest."""
    nets = {"128": two_level(8, 16, 8, 2), "512": three_level(4, 8, 16, 16, 4)}
    if TEXT.exists():
        nets["text"] = net_of(TEXT)
    return {**nets, "2,048": three_level(8, 8, 32, 16, 4), "16,384": three_level(32, 16, 32, 32, 16)}


def tried(name: str, net: Net, faults: int, seed: int) -> list[Came]:
    """So many faults, of all kinds in turn."""
    parts = Parts(net)
    planter = Planter(net, parts)
    found = []
    for number in range(faults):
        kind = KINDS[number % len(KINDS)]
        rng = random.Random(f"{name} {seed} {number}")
        planted = planter.plant(kind, rng)
        begun = time.process_time()
        search = run(Bisection(net, Bound(), number), net, planted, rng)
        seconds = time.process_time() - begun
        came = Came(kind, name, outcome(search, planted), search.record.rounds, most_rounds(net), seconds)
        if came.outcome != "exact":
            words = ", ".join(f"{parts.all[one.part].name} to {one.to} {one.way} 1/{one.every}" for one in planted)
            print(f"{came.outcome}: {name} {kind} #{number}: {words}", file=sys.stderr)
        found.append(came)
    return found


def row(name: str, came: Sequence[Came]) -> str:
    count = len(came)
    share = {what: 100 * sum(one.outcome == what for one in came) / count for what in ("exact", "wrong", "cannot tell")}
    rounds = [one.rounds for one in came]
    return (
        f"| {name} | {count:,} | {share['exact']:.2f} | {share['wrong']:.2f} | {share['cannot tell']:.2f} "
        f"| {median(rounds):g} / {max(rounds)} | {sum(one.seconds for one in came) / count:.2f} |"
    )


def main() -> int:
    """Print the tables; status 1 where too few are found, or a bound is broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    nets = fabrics()
    counts = {name: asked.faults * SHARES.get(name, 0) // 1000 for name in nets}
    counts["128"] = asked.faults - sum(counts.values())
    came = [one for name, net in nets.items() for one in tried(name, net, counts[name], asked.seed)]
    head = "faults | exact % | wrong % | cannot tell % | rounds, median / most | CPU s a fault |"
    print(f"| fault | {head}\n|---|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        if mine := [one for one in came if one.kind == kind]:
            print(row(kind, mine))
    print(row("all", came))
    print(f"\n| ports | {head}\n|---|---:|---:|---:|---:|---:|---:|")
    for name, net in nets.items():
        if mine := [one for one in came if one.fabric == name]:
            title = f"{len(net.ports):,} (a text of ibnetdiscover)" if name == "text" else name
            print(row(f"{title}, of {most_rounds(net)} rounds", mine))
    exact = 100 * sum(one.outcome == "exact" for one in came) / len(came)
    wrong = 100 * sum(one.outcome == "wrong" for one in came) / len(came)
    late = sum(one.rounds > one.limit for one in came)
    print(
        f"\n{exact:.2f} % exact (at least {EXACT:g}), {wrong:.2f} % wrong (at most {WRONG:g}), {late} beyond the rounds"
    )
    return int(exact < EXACT or wrong > WRONG or late > 0)


if __name__ == "__main__":
    sys.exit(main())
