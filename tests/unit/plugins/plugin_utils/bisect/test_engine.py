# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted faults are found, nobody else is convicted, and the bounds on rounds and load are kept."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.draw import of_hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.engine import Bisection, most_rounds
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.net import Net
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import CABLE, Parts
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.shapes import Bound, Measured, Round
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.verdict import judge
from tests.unit.corpus import CORPUS
from tests.unit.flow_model import KINDS, Fault, Planter, blind, links_of, measure, outcome, run, three_level, two_level
from tests.unit.flow_texts import net_of

pytestmark = pytest.mark.thorough

TEXT = CORPUS / "ibnetdiscover" / "04-topograph-ndr-fabric.txt"
SMALL = two_level(8, 16, 8, 2)


def kept(net: Net, bound: Bound) -> Callable[[Round], None]:
    """Looks at every round: ports are apart, and no wave asks for more than the bound has."""

    def look(asked: Round) -> None:
        assert asked.number <= most_rounds(net)
        ports = Counter(port for flow in asked.flows for port in {flow.source, flow.target})
        assert set(ports.values()) <= {1}
        assert len(asked.waves()) <= bound.waves
        for wave in asked.waves():
            assert len(wave) <= (bound.flows or len(net.ports))
            load: Counter[int] = Counter()
            for flow in wave:
                load.update(dict.fromkeys(links_of(net, flow.source, flow.target), flow.gbps))
            assert all(gbps <= bound.share * net.gbps[link] + 0.01 for link, gbps in load.items())

    return look


def tried(net: Net, kinds: Sequence[str], each: int) -> Counter[str]:
    """What came of so many faults of each kind."""
    parts = Parts(net)
    planter = Planter(net, parts)
    came: Counter[str] = Counter()
    for kind in kinds:
        for seed in range(each):
            rng = random.Random(f"{kind} {seed}")
            faults = planter.plant(kind, rng)
            search = run(Bisection(net, Bound(), seed), net, faults, rng, kept(net, Bound()))
            came[outcome(search, faults)] += 1
            assert search.record.rounds <= search.limit
    return came


def test_faults_of_a_small_fabric() -> None:
    came = tried(SMALL, KINDS, 10)
    assert came["wrong"] == 0
    assert came["exact"] >= 0.99 * came.total()


def test_faults_of_three_levels() -> None:
    came = tried(three_level(4, 8, 8, 8, 4), KINDS, 3)
    assert came["wrong"] == 0
    assert came["exact"] >= 0.97 * came.total()


@pytest.mark.skipif(not TEXT.exists(), reason="no corpus (set IBREADY_CORPUS)")
def test_faults_of_a_real_fabric() -> None:
    net = net_of(TEXT)
    assert len(net.ports) > 500
    came = tried(net, KINDS, 2)
    assert came["wrong"] == 0
    assert came["exact"] >= 0.97 * came.total()


def test_healthy_parts_are_never_convicted() -> None:
    assert tried(SMALL, ["healthy"], 20) == {"exact": 20}


def test_what_others_slow_down_now_and_then_is_nobodys_fault() -> None:
    """One measurement in 500 is slow for a reason that no part has."""
    parts = Parts(SMALL)
    for seed in range(12):
        rng = random.Random(seed)
        search = Bisection(SMALL, None, seed)
        while (asked := search.next()) is not None:
            came = measure(SMALL, parts, asked, [], rng)
            search.take([one._replace(gbps=one.gbps * 0.5) if rng.random() < 0.002 else one for one in came])
        assert search.convicted() == {}


def test_a_tenth_of_the_ports_at_once_is_enough() -> None:
    parts = Parts(SMALL)
    planter = Planter(SMALL, parts)
    bound = Bound(flows=6, waves=10)
    for kind in ("port, half", "cable, quarter", "host", "leaf"):
        rng = random.Random(kind)
        faults = planter.plant(kind, rng)
        search = run(Bisection(SMALL, bound, 1), SMALL, faults, rng, kept(SMALL, bound))
        assert outcome(search, faults) == "exact"


def test_a_round_of_many_ports_is_planned_in_time() -> None:
    net = three_level(8, 8, 32, 16, 4)
    search = Bisection(net)
    asked = search.next()
    assert asked is not None
    assert len(asked.flows) > 0.9 * len(net.ports) / 2


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    leaves=st.sampled_from([1, 2, 4, 8]),
    per_leaf=st.integers(2, 12),
    spines=st.integers(1, 4),
    flows=st.integers(0, 20),
    waves=st.integers(1, 3),
    hashed=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_bounds_are_kept(
    leaves: int, per_leaf: int, spines: int, flows: int, waves: int, hashed: bool, seed: int
) -> None:
    net = two_level(leaves, per_leaf, spines, 2, rails=leaves, hashed=hashed)
    bound = Bound(flows, 1.0, waves)
    rng = random.Random(seed)
    faults = Planter(net, Parts(net)).plant("port, half", rng)
    search = run(Bisection(net, bound, seed), net, faults, rng, kept(net, bound))
    assert set(search.convicted()) <= {fault.part for fault in faults}


def test_a_cable_that_is_shared_gets_no_more_than_its_share() -> None:
    net = two_level(4, 8, 2, 2, rails=4)
    bound = Bound(share=0.5)
    run(Bisection(net, bound), net, [], random.Random(1), lambda asked: kept(net, Bound())(asked))
    asked = Bisection(net, bound).next()
    assert asked is not None
    assert all(net.ports[flow.source].leaf == net.ports[flow.target].leaf for flow in asked.flows)


@pytest.mark.parametrize("kind", ["port, half", "host", "leaf", "port, now and then", "cable, half", "spine"])
def test_without_tables_nobody_is_convicted_wrongly(kind: str) -> None:
    seen = blind(SMALL)
    planter = Planter(SMALL, Parts(SMALL))
    came: Counter[str] = Counter()
    for seed in range(2):
        rng = random.Random(f"{kind} {seed}")
        faults = planter.plant(kind, rng)
        came[outcome(run(Bisection(seen, None, seed), SMALL, faults, rng), faults)] += 1
    assert came["wrong"] == 0
    assert came["exact"] >= (1 if kind in ("port, half", "host", "leaf") else 0)


def test_hosts_alone_are_enough_for_a_port_and_a_host() -> None:
    """Their flows meet where nobody sees it."""
    ports = [port._replace(leaf=-1, far="") for port in SMALL.ports]
    seen = Net(ports)
    for kind in ("healthy", "port, half", "host"):
        for seed in range(4):
            rng = random.Random(f"{kind} {seed}")
            faults = Planter(SMALL, Parts(SMALL)).plant(kind, rng)
            search = run(Bisection(seen, None, seed), SMALL, faults, rng)
            convicted = {search.parts.all[one].name for one in search.convicted()}
            planted = {Parts(SMALL).all[fault.part].name.partition(" - ")[0] for fault in faults}
            assert convicted == planted


@pytest.mark.parametrize("both", [True, False])
def test_four_hosts_of_which_nothing_is_known(both: bool) -> None:
    """Flows run one at a time: what virtual machines on a bridge can show."""
    net = of_hosts({f"node{number}": {"rxe0/1": 10.0} for number in range(4)})
    for seed in range(10):
        rng = random.Random(seed)
        slow = rng.randrange(4)
        search = Bisection(net, None, seed)
        while (asked := search.next()) is not None:
            assert all(len(wave) == 1 for wave in asked.waves())
            came = []
            for flow in asked.flows:
                hit = flow.source == slow or (both and flow.target == slow)
                came.append(Measured(flow.source, flow.target, 9.0 * (0.4 if hit else 1.0) * rng.gauss(1, 0.05)))
            search.take(came)
        assert set(search.convicted()) == {slow}


def test_two_hosts_cannot_be_told_apart() -> None:
    net = two_level(1, 2, 1, rails=1)
    rng = random.Random(3)
    search = run(Bisection(net, usual=0.965), net, [Fault(0, 0.5)], rng)
    assert search.convicted() == {}
    assert search.record.rounds == search.limit == 5


def test_most_flows_slow_and_too_few_to_know() -> None:
    net = two_level(1, 4, 1, rails=1)
    search = run(Bisection(net), net, [Fault(number, 0.5) for number in range(4)], random.Random(3))
    assert search.record.doubtful
    assert search.convicted() == {}


def test_flows_that_did_not_start_say_nothing() -> None:
    parts = Parts(SMALL)
    rng = random.Random(7)
    search = Bisection(SMALL)
    faults = [Fault(5, 0.5)]
    while (asked := search.next()) is not None:
        search.take([one for one in measure(SMALL, parts, asked, faults, rng) if rng.random() > 0.2])
    assert set(search.convicted()) == {5}


def test_rounds_without_any_measurement_say_nothing() -> None:
    search = Bisection(SMALL)
    while search.next() is not None:
        search.take([])
    assert search.record.rounds == search.limit
    assert search.convicted() == {}


def test_nothing_to_measure() -> None:
    assert Bisection(Net([])).next() is None
    assert Bisection(Net(SMALL.ports[:1])).next() is None


def test_a_rate_that_is_no_number_is_left_out() -> None:
    search = Bisection(SMALL)
    asked = search.next()
    assert asked is not None
    search.take([Measured(flow.source, flow.target, float("nan")) for flow in asked.flows])
    assert search.record.seen == []


def test_what_was_not_asked_for_is_left_out() -> None:
    search = Bisection(SMALL)
    asked = search.next()
    assert asked is not None
    search.take([Measured(flow.target, flow.source, 1.0) for flow in asked.flows])
    assert search.record.seen == []
    assert search.convicted() == {}


def test_a_cable_that_no_way_uses_is_not_convicted() -> None:
    net = two_level(4, 2, 8, 2, rails=4, hashed=True)
    parts = Parts(net)
    cables = [number for number, part in enumerate(parts.all) if part.kind == CABLE]
    ways = [
        links_of(net, source, target)
        for source in range(len(net.ports))
        for target in range(len(net.ports))
        if source != target
    ]
    used = {link for way in ways for link in way}
    idle = [number for number in cables if not used & set(parts.all[number].links)]
    assert idle
    search = run(Bisection(net), net, [Fault(idle[0], 0.5)], random.Random(2))
    assert search.convicted() == {}
    assert parts.all[idle[0]].name in judge(search).unused


@pytest.mark.parametrize(("hosts", "rails"), [(2, 2), (3, 1), (2, 4), (4, 2)])
def test_a_handful_of_ports_is_enough_where_the_site_says_what_is_usual(hosts: int, rails: int) -> None:
    """Flows of an emulated processor: any speed above what is healthy is full speed."""
    for seed in range(12):
        net = of_hosts({f"node{host}": {f"rxe{rail}/1": 0.04 for rail in range(rails)} for host in range(hosts)})
        search = Bisection(net, Bound(flows=1, waves=len(net.ports)), seed, usual=1.0)
        rng = random.Random(seed)
        bad = rng.randrange(len(net.ports))
        while (asked := search.next()) is not None:
            assert all(net.ports[flow.source].host != net.ports[flow.target].host for flow in asked.flows)
            search.take(
                Measured(flow.source, flow.target, 0.0 if flow.source == bad else 0.1 * rng.uniform(0.6, 1.3))
                for flow in asked.flows
            )
        assert [search.parts.all[part].name for part in search.convicted()] == [net.ports[bad].named]
