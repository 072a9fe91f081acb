# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written of a search: the verdicts, and the measurements that prove them."""

from __future__ import annotations

import json
import random

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect import verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.engine import Bisection
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import BACK, CABLE, FORTH, Parts
from tests.unit.flow_model import Fault, run, two_level

NET = two_level(8, 16, 8, 2)
PARTS = Parts(NET)


def told(*faults: Fault, seed: int = 1) -> verdict.Told:
    return verdict.judge(run(Bisection(NET, None, seed), NET, faults, random.Random(seed)))


def test_the_guilty_comes_first_with_its_proof() -> None:
    found = told(Fault(17, 0.5))
    first, *others = found.verdicts
    assert (first.kind, first.part, first.verdict) == ("port", "node3 mlx5_1/1 - leaf2/3", verdict.CONVICTED)
    assert first.why.startswith(("50 % of", "49 % of", "51 % of", "48 % of", "52 % of"))
    assert "in every round in which it was used" in first.why
    assert "flows cannot tell apart the adapter and its PCIe slot, the cable" in first.why
    assert len(first.against) >= 3
    assert all("node3 mlx5_1/1" in (one.source, one.target) for one in first.against)
    assert all(one.gbps < 0.8 * one.usual for one in first.against)
    assert all(one.gbps >= 0.8 * one.usual for one in first.others)
    partner = first.against[0].target if first.against[0].source == "node3 mlx5_1/1" else first.against[0].source
    assert any(one.part.startswith(partner) for one in first.others)
    assert {one.verdict for one in others} <= {verdict.ACQUITTED, verdict.CANNOT_TELL}
    assert found.rounds <= found.limit == 11


def test_a_neighbour_is_acquitted_by_its_own_measurements() -> None:
    found = told(Fault(17, 0.5))
    acquitted = [one for one in found.verdicts if one.verdict == verdict.ACQUITTED]
    assert acquitted
    assert all(one.cleared and one.against for one in acquitted)
    assert all("it was slow only together with node3 mlx5_1/1" in one.why for one in acquitted)


def test_the_direction_is_said() -> None:
    assert "sending" in told(Fault(17, 0.5, FORTH)).verdicts[0].why
    assert "receiving" in told(Fault(17, 0.25, BACK)).verdicts[0].why
    cable = next(number for number, part in enumerate(PARTS.all) if part.kind == CABLE)
    assert "from its lower end to its upper" in told(Fault(cable, 0.5, FORTH)).verdicts[0].why


def test_a_dead_port() -> None:
    assert told(Fault(17, 0.0)).verdicts[0].why.startswith("nothing gets through")


def test_now_and_then_names_the_rounds() -> None:
    first = told(Fault(17, 0.5, every=2, first=1)).verdicts[0]
    assert first.verdict == verdict.CONVICTED
    assert "now and then, in rounds 1, 3" in first.why


def test_what_is_behind_a_slow_switch_cannot_be_told() -> None:
    leaf = next(number for number, part in enumerate(PARTS.all) if part.name == "leaf3")
    first, *others = told(Fault(leaf, 0.5)).verdicts
    assert (first.part, first.verdict) == ("leaf3", verdict.CONVICTED)
    behind = next(one for one in others if one.part.endswith("leaf3/1"))
    assert behind.verdict == verdict.CANNOT_TELL
    assert behind.why.startswith("every slow flow over it went over leaf3, too")


def test_rivals_are_named() -> None:
    net = two_level(1, 2, 1, rails=1)
    search = run(Bisection(net, usual=0.965), net, [Fault(0, 0.5)], random.Random(3))
    found = verdict.judge(search)
    ports = [one for one in found.verdicts if one.kind == "port"]
    assert [one.verdict for one in ports] == [verdict.CANNOT_TELL] * 2
    assert all("were on the same slow ways" in one.why for one in ports)


def test_a_single_slow_round_is_no_proof() -> None:
    found = told(Fault(17, 0.5, every=11, first=2))
    assert all(one.verdict != verdict.CONVICTED for one in found.verdicts)
    assert any(one.why.startswith("slow in one round only") for one in found.verdicts)


def test_healthy() -> None:
    found = told()
    assert found.verdicts == ()
    assert (found.rounds, found.unused) == (11, ())
    assert found.clear == len(PARTS.all)
    assert 0.9 < found.usual < 1.0


def test_it_can_be_written_down() -> None:
    found = told(Fault(17, 0.5)).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["verdicts"][0]["against"][0].keys() == {"part", "round", "source", "target", "gbps", "usual"}
