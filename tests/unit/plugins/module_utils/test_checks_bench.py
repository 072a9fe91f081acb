# SPDX-License-Identifier: GPL-3.0-or-later
"""What perftest measured, judged: floors, equal pairs, and whose fault it is."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import bench as data
from ansible_collections.ibready.cluster.plugins.module_utils._fleet import bench
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.bench import Measure, Wanted
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check

HOSTS = ("n1", "n2", "n3", "n4")
RAIL = "mlx5_0/1"
BW, GPU, LAT = data.WRITE_BW, data.WRITE_BW_GPU, data.SEND_LAT


def pairs(test: str, usual: float, *, rate: float | None = 400.0, **slow: float) -> list[Measure]:
    """Every pair both ways; ``slow``: what each pair with that host reaches."""
    found = []
    for client, server in permutations(HOSTS, 2):
        value = slow.get(client, slow.get(server, usual))
        found.append(Measure(client, server, RAIL, test, value, rate))
    return found


def judge(measures: list[Measure], *tests: str, **given: float) -> dict[str, list[Check]]:
    wanted = Wanted(rails={host: [RAIL] for host in HOSTS}, tests=tests or (BW,), **given)
    return bench.judge(wanted, measures, len(HOSTS))


def results(checks: dict[str, list[Check]], check_id: str) -> dict[str, str]:
    return {host: one.result for host, mine in checks.items() for one in mine if one.id == check_id}


def the(checks: list[Check], check_id: str) -> Check:
    (found,) = [one for one in checks if one.id == check_id]
    return found


@pytest.mark.parametrize(
    ("rate", "value", "result"), [(100.0, 92.4, PASS), (100.0, 80.0, FAIL), (200.0, 181.0, PASS), (400.0, 359.0, FAIL)]
)
def test_the_floor_follows_the_link_rate(rate: float, value: float, result: str) -> None:
    checks = judge(pairs(BW, value, rate=rate))
    assert set(results(checks, "fabric.bench.bandwidth").values()) == {result}
    floor = the(checks["n1"], "fabric.bench.bandwidth")
    assert floor.expected == f"at least {data.BANDWIDTH_GBPS[rate].value:g} Gb/s"
    assert floor.expected_from == f"capability of a port of {rate:g} Gb/s"


@pytest.mark.parametrize("rate", [None, 800.0, 2.5])
def test_without_a_published_floor_nothing_passes(rate: float | None) -> None:
    checks = judge(pairs(BW, 700.0, rate=rate))
    assert set(results(checks, "fabric.bench.bandwidth").values()) == {UNKNOWN}
    assert "bandwidth_gbps" in the(checks["n1"], "fabric.bench.bandwidth").remedy
    own = judge(pairs(BW, 700.0, rate=rate), bandwidth=650.0)
    assert the(own["n1"], "fabric.bench.bandwidth").expected_from == "inventory"
    assert set(results(own, "fabric.bench.bandwidth").values()) == {PASS}


def test_a_slow_host_is_named_and_its_partners_are_not() -> None:
    checks = judge(pairs(BW, 396.0, n3=200.0))
    wrong = {"n1": PASS, "n2": PASS, "n3": FAIL, "n4": PASS}
    assert results(checks, "fabric.bench.bandwidth") == wrong
    assert "slow in 6 of 6 pairs" in the(checks["n3"], "fabric.bench.bandwidth").observed


def test_who_is_above_the_floor_and_below_its_equals_stands_out() -> None:
    checks = judge(pairs(BW, 396.0, n3=365.0))
    assert set(results(checks, "fabric.bench.bandwidth").values()) == {PASS}
    # Half of all pairs are with it: it is the median, and cannot stand out of itself.
    assert set(results(checks, "fabric.bench.outlier").values()) == {PASS}
    one_way = [
        Measure(one.client, one.server, RAIL, BW, 365.0, 400.0)
        if (one.client, one.server) in (("n3", "n1"), ("n3", "n2"))
        else one
        for one in pairs(BW, 396.0)
    ]
    found = results(judge(one_way), "fabric.bench.outlier")
    assert found == {"n1": PASS, "n2": PASS, "n3": FAIL, "n4": PASS}


def test_a_small_difference_is_none_however_equal_the_others_are() -> None:
    nearly = [*pairs(BW, 396.0)[1:], Measure("n1", "n2", RAIL, BW, 390.0, 400.0)]
    assert set(results(judge(nearly), "fabric.bench.outlier").values()) == {PASS}


def test_ports_of_another_rate_are_no_equals() -> None:
    slower = [Measure(one.client, one.server, RAIL, BW, 190.0, 200.0) for one in pairs(BW, 0.0)[:3]]
    found = judge([*pairs(BW, 396.0)[3:], *slower])
    assert set(results(found, "fabric.bench.outlier").values()) <= {PASS, SKIP}


def test_few_pairs_have_no_usual_and_that_is_told() -> None:
    checks = judge(pairs(BW, 396.0)[:4])
    assert SKIP in results(checks, "fabric.bench.outlier").values()
    assert "equal pairs" in the(checks["n1"], "fabric.bench.outlier").cause


def test_latency_has_a_ceiling() -> None:
    checks = judge(pairs(LAT, 1.6, n2=9.0), LAT)
    wrong = {"n1": PASS, "n2": FAIL, "n3": PASS, "n4": PASS}
    assert results(checks, "fabric.bench.latency") == wrong
    assert "9 us from" in the(checks["n2"], "fabric.bench.latency").observed
    slow_link = judge(pairs(LAT, 1.6, rate=10.0), LAT)
    assert set(results(slow_link, "fabric.bench.latency").values()) == {UNKNOWN}


@pytest.mark.parametrize("tried", [True, False])
def test_what_was_not_measured_is_unknown_with_its_reason(tried: bool) -> None:
    why = "ib_write_bw: Unable to find the Infiniband/RoCE device"
    found = [
        Measure(one.client, one.server, RAIL, BW, rate=400.0, untested=why, culprit="n4")
        if "n4" in (one.client, one.server)
        else one
        for one in pairs(BW, 396.0)
        if tried or "n4" not in (one.client, one.server)
    ]
    checks = judge(found)
    assert results(checks, "fabric.bench.bandwidth") == {**dict.fromkeys(HOSTS[:3], PASS), "n4": UNKNOWN}
    said = why if tried else "no pair with this host was measured"
    assert the(checks["n4"], "fabric.bench.bandwidth").cause == said


def test_a_host_whose_partners_all_failed_says_whose_fault_it_is() -> None:
    broken = Measure("n1", "n2", RAIL, BW, untested="no such device", culprit="n2")
    assert the(judge([broken])["n1"], "fabric.bench.bandwidth").cause == "n2: no such device"


def test_hosts_without_gpus_have_no_gpudirect_to_judge() -> None:
    wanted = Wanted({"n1": [RAIL]}, (GPU,), skips={("n1", GPU): "it has no GPU"})
    (one,) = bench.judge(wanted, [], 2)["n1"]
    assert (one.id, one.result, one.cause) == ("fabric.bench.gpudirect", SKIP, "it has no GPU")


def test_one_host_has_nobody_to_measure_against() -> None:
    (one,) = bench.judge(Wanted({"n1": [RAIL]}, (BW,)), [], 1)["n1"]
    assert one.result == SKIP


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=40))
def test_the_usual_itself_never_stands_out(values: list[float]) -> None:
    known = bench.usual_of(values)
    for better in (True, False):
        assert not known.is_worse(known.center, more_is_better=better)
        assert known.is_worse(0.0 if better else 1e12, more_is_better=better) or known.mad > 0


def test_every_floor_has_its_source() -> None:
    floors = [*data.BANDWIDTH_GBPS.values(), data.LATENCY_US, *data.NODE_GBPS.values()]
    assert all(one.source and one.confidence in ("confirmed", "medium") for one in floors)
    assert all(floor.value < rate for rate, floor in data.BANDWIDTH_GBPS.items())


def test_a_host_that_met_none_but_a_slow_one_is_not_proven_fast() -> None:
    found = [
        Measure(client, server, RAIL, BW, 200.0, 400.0)
        for client, server in (("n1", "n3"), ("n3", "n1"), ("n3", "n2"), ("n2", "n3"))
    ]
    checks = judge([*found, Measure("n2", "n4", RAIL, BW, 396.0, 400.0)])
    assert results(checks, "fabric.bench.bandwidth") == {"n1": UNKNOWN, "n2": PASS, "n3": FAIL, "n4": PASS}
    passed = the(checks["n2"], "fabric.bench.bandwidth")
    assert passed.observed == "396 Gb/s (1 pair), apart from 2 pairs with slow hosts"


@pytest.mark.parametrize("culprit", ["n4", ""])
def test_pairs_that_a_host_spoilt_are_not_made_up_for_by_others(culprit: str) -> None:
    """n4 measured once and failed with all others; ``culprit``: "" where each client told."""
    found = [
        one
        if "n4" not in (one.client, one.server) or (one.client, one.server) == ("n1", "n4")
        else Measure(
            *(one.client, one.server, RAIL, BW),
            rate=400.0,
            untested="it did not end within 20 s",
            culprit=culprit or one.client,
        )
        for one in pairs(BW, 396.0)
    ]
    checks = judge(found)
    assert results(checks, "fabric.bench.bandwidth") == {**dict.fromkeys(HOSTS[:3], PASS), "n4": UNKNOWN}
    spoilt = the(checks["n4"], "fabric.bench.bandwidth")
    assert "it did not end" in spoilt.cause
    assert spoilt.observed == "396 Gb/s (1 pair)"


def test_a_slow_host_that_spoilt_a_pair_is_slow() -> None:
    found = [
        Measure(one.client, one.server, RAIL, BW, rate=400.0, untested="it ended", culprit="n3")
        if (one.client, one.server) == ("n1", "n3")
        else one
        for one in pairs(BW, 396.0, n3=200.0)
    ]
    assert results(judge(found), "fabric.bench.bandwidth")["n3"] == FAIL


def test_a_slow_pair_is_held_against_what_its_own_ports_reach() -> None:
    """n1 meets the older hosts, whose ports have half the rate, before the other new ones."""
    old, new = [f"old{at}" for at in range(3)], [f"new{at}" for at in range(4)]
    found = [Measure("n1", one, RAIL, BW, 190.0, 200.0) for one in old]
    found += [Measure("n1", one, RAIL, BW, 300.0, 400.0) for one in new]
    found += [Measure(one, two, RAIL, BW, 396.0, 400.0) for one, two in permutations(new, 2)]
    wanted = Wanted(rails={host: [RAIL] for host in ("n1", *old, *new)}, tests=(BW,))
    judged = bench.judge(wanted, found, 8)
    floor, outlier = (the(judged["n1"], f"fabric.bench.{one}") for one in ("bandwidth", "outlier"))
    assert (floor.result, floor.expected) == (FAIL, "at least 360 Gb/s")
    assert (outlier.result, outlier.expected_from) == (FAIL, "fleet 16/16")
    floor = the(judged["old1"], "fabric.bench.bandwidth")
    assert (floor.result, floor.expected) == (PASS, "at least 180 Gb/s")


def test_a_host_that_answers_nobody_is_unknown_with_the_words_of_those_who_asked() -> None:
    asked = [
        Measure(one.client, one.server, RAIL, BW, rate=400.0, untested="no reply", culprit=one.client)
        if one.server == "n4"
        else one
        for one in reversed(pairs(BW, 396.0))
    ]
    found = the(judge(asked)["n4"], "fabric.bench.bandwidth")
    assert (found.result, found.cause) == (UNKNOWN, "n3: no reply")
