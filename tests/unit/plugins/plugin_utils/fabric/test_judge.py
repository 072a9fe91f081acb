# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole fabrics judged: nothing on healthy ones, and every fault by its id and its ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import PASS, SKIP
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory
from tests.unit import fabrics
from tests.unit.fabrics import Fabric, found, judged, rails, sm_record, tree

SHAPES: dict[str, Callable[[], Fabric]] = {
    "rails": rails,
    "tree": tree,
    "one switch": lambda: rails(width=1, spines=0),
    "two leaves": lambda: tree(leaves=2),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_healthy_fabric_has_nothing_wrong(shape: str) -> None:
    fabric = SHAPES[shape]()
    told = judged(fabric, plan=fabric.discovery(), standbys=0, oversubscription=9.0)
    assert {one["result"] for one in told.fabrics[0]["checks"]} <= {PASS, SKIP}
    assert told.fabrics[0]["verdict"] == "ready"
    assert {one.result for checks in told.hosts.values() for one in checks} == {PASS}
    assert sorted(told.hosts) == sorted({hca.host for hca in fabric.rails})


def test_a_pulled_cable_is_a_missing_hca() -> None:
    fabric = rails()
    cabling = fabric.discovery()
    fabric.pull(("3c10", 1))
    told = judged(fabric)
    assert found(told) == {"fabric.hca.present": ["node3 mlx5_1/1"]}
    assert [(one.id, one.subject) for one in told.hosts["node3"] if one.result == "fail"] == [
        ("fabric.hca.present", "mlx5_1/1")
    ]
    planned = judged(fabric, plan=cabling)
    assert found(planned)["fabric.cabling.missing"] == ["leaf2/3 - node3 mlx5_1/1"] or found(
        planned
    )["fabric.cabling.missing"] == ["node3 mlx5_1/1 - leaf2/3"]
    check = next(one for one in planned.hosts["node3"] if one.result == "fail")
    assert "by the plan it leads to leaf2/3" in check.cause


def test_a_host_that_is_off_is_one_finding() -> None:
    fabric = rails()
    fabric.remove("3c00")
    fabric.remove("3c10")
    told = judged(fabric)
    assert found(told) == {"fabric.hca.present": ["node3"]}
    assert [one.subject for one in told.hosts["node3"] if one.id == "fabric.hca.present"] == [
        "host"
    ]


@pytest.mark.parametrize(
    ("shape", "leaf", "hosts"),
    [("rails", "a10", "node1, node2, node3, node4"), ("tree", "a20", "node5, node6")],
)
def test_a_dead_leaf_is_one_cause(shape: str, leaf: str, hosts: str) -> None:
    fabric = SHAPES[shape]()
    behind = [end[0] for end, cable in fabric.cables.items() if cable[0][0] == leaf]
    fabric.remove(leaf)
    for guid in behind:
        if fabric.nodes[guid][0] == "H":
            del fabric.nodes[guid]
    told = judged(fabric)
    assert found(told)["fabric.leaf.present"] == [hosts]
    check = next(one for one in told.hosts["node1" if shape == "rails" else "node5"])
    assert "their leaf is dead" in check.cause


def test_a_dead_spine_is_told_by_the_plan() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.remove("b10")
    assert found(judged(fabric, plan=cabling)) == {"fabric.switch.present": ["spine2"]}


def test_a_dead_spine_is_told_by_ports_that_were_up_once() -> None:
    fabric = tree()
    fabric.remove("b10")
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    assert found(judged(fabric)) == {"fabric.spine.present": ["fabric"]}
    # Hosts that are off leave the same trace, so they must not be taken for a spine.
    fabric.remove("2c00")
    assert "fabric.spine.present" not in found(judged(fabric))


def test_a_lost_uplink_names_leaf_spine_and_port() -> None:
    fabric = tree()
    fabric.pull(("a10", 36))
    told = judged(fabric)
    assert found(told) == {"fabric.leaf.uplinks": ["leaf2"]}
    check = next(one for one in told.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["expected_from"] == "fleet 2/3"
    assert "spine2 (1 of 2)" in check["cause"]
    assert "port 36 is Down" in check["cause"]


def test_two_leaves_that_differ_are_held_against_what_most_pairs_have() -> None:
    fabric = tree(leaves=2)
    fabric.pull(("a10", 36))
    assert found(judged(fabric)) == {"fabric.leaf.uplinks": ["leaf2"]}


def test_a_wrong_rail_names_both_leaves() -> None:
    fabric = rails()
    fabric.pull(("3c10", 1))
    fabric.plug(("3c10", 1), ("a00", 9))
    told = judged(fabric)
    assert found(told) == {"fabric.rail.leaf": ["node3 mlx5_1/1"]}
    check = next(one for one in told.hosts["node3"] if one.result == "fail")
    assert (check.observed, check.expected) == ("rail 2 on leaf1", "leaf2")
    assert check.expected_from == "fleet 7/8"


def test_swapped_rails_are_told_as_such() -> None:
    fabric = rails()
    fabric.pull(("3c00", 1))
    fabric.pull(("3c10", 1))
    fabric.plug(("3c10", 1), ("a00", 3))
    fabric.plug(("3c00", 1), ("a10", 3))
    causes = [one.cause for one in judged(fabric).hosts["node3"] if one.result == "fail"]
    assert len(causes) == 2
    assert all("are swapped" in one for one in causes)


def test_swapped_cables_are_one_pair() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.pull(("3c00", 1))
    fabric.pull(("4c00", 1))
    fabric.plug(("3c00", 1), ("a10", 2))
    fabric.plug(("4c00", 1), ("a10", 1))
    told = judged(fabric, plan=cabling)
    assert list(found(told)) == ["fabric.cabling.swapped"]
    (subject,) = found(told)["fabric.cabling.swapped"]
    assert "node3 mlx5_0/1" in subject
    assert "node4 mlx5_0/1" in subject
    assert [one["state"] for one in told.fabrics[0]["links"]].count("miscabled") == 2


def test_a_cable_at_another_port_and_one_that_nobody_planned() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.pull(("3c00", 1))
    fabric.plug(("3c00", 1), ("a10", 9))
    fabric.plug(("a00", 20), ("a20", 20))
    told = found(judged(fabric, plan=cabling))
    assert list(told) == ["fabric.cabling.place", "fabric.cabling.extra"]
    assert told["fabric.cabling.extra"] == ["leaf1/20 - leaf3/20"]


@pytest.mark.parametrize(
    ("speed", "said", "id_", "source"),
    [
        ("1xNDR", "Could be 12X ", "fabric.cable.width", "capability"),
        ("1xNDR", "", "fabric.cable.width", "fleet 5/6"),
        ("4xHDR", "Could be 106.25 Gbps ", "fabric.cable.speed", "capability"),
        ("4xHDR", "", "fabric.cable.generation", "fleet 5/6"),
    ],
)
def test_a_slow_cable_is_told_with_both_ends(speed: str, said: str, id_: str, source: str) -> None:
    fabric = tree()
    fabric.plug(("3c00", 1), ("a10", 1), speed, said)
    told = judged(fabric)
    assert found(told) == {id_: ["node3 mlx5_0/1 - leaf2/1"]}
    check = next(one for one in told.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["expected_from"] == source
    assert [one["state"] for one in told.fabrics[0]["links"]].count("slow") == 1


def test_twelve_lanes_are_asked_of_no_cable_that_has_four() -> None:
    fabric = tree()
    for end, (far, speed, _said) in list(fabric.cables.items()):
        fabric.cables[end] = (far, speed, "Could be 12X ")
    assert found(judged(fabric)) == {}


def test_slow_uplinks_narrow_the_way_of_fast_hcas() -> None:
    fabric = tree()
    for end, (far, _speed, said) in list(fabric.cables.items()):
        if end[0][0] in "ab" and far[0][0] in "ab":
            fabric.cables[end] = (far, "4xHDR", said)
    assert found(judged(fabric)) == {"fabric.path.speed": ["leaf1", "leaf2", "leaf3"]}


def test_oversubscription_is_judged_where_the_site_says_how_much_may_be() -> None:
    fabric = tree(each=6, cables=1)
    assert "fabric.leaf.subscription" in found(judged(fabric), "skip")
    assert found(judged(fabric, oversubscription=3.0)) == {}
    told = found(judged(fabric, oversubscription=2.0))
    assert told == {"fabric.leaf.subscription": ["leaf1", "leaf2", "leaf3"]}


def test_a_link_that_nobody_set_up() -> None:
    fabric = tree()
    fabric.states[("a00", 33)] = "Initialize/  LinkUp"
    fabric.states[("b00", 1)] = "Initialize/  LinkUp"
    assert found(judged(fabric)) == {"fabric.link.state": ["leaf1/33 - spine1/1"]}


def test_errors_count_where_they_rise() -> None:
    fabric = tree()
    fabric.counters[("a10", 1)] = ({"SymbolErrorCounter": 100}, {"SymbolErrorCounter": 600})
    fabric.counters[("a20", 1)] = ({"SymbolErrorCounter": 900}, {"SymbolErrorCounter": 900})
    told = judged(fabric)
    assert found(told) == {"fabric.cable.errors": ["leaf2/1"]}
    check = next(one for one in told.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["observed"] == "SymbolErrorCounter +500 in 5.0 s"
    assert "the other end is node3 mlx5_0/1" in check["cause"]


def test_counters_that_somebody_cleared_are_unknown() -> None:
    fabric = tree()
    fabric.counters[("a10", 1)] = ({"SymbolErrorCounter": 100}, {})
    assert "fabric.cable.errors" in found(judged(fabric), "unknown")


def test_a_full_counter_hides_what_comes() -> None:
    fabric = tree()
    fabric.counters[("a10", 1)] = ({"LinkDownedCounter": 255}, {"LinkDownedCounter": 255})
    assert found(judged(fabric)) == {"fabric.counters.saturated": ["leaf2/1"]}


def test_an_adapter_of_no_inventory_is_named_unless_the_site_knows_it() -> None:
    fabric = tree()
    fabric.nodes["ff0"] = ("H", "storage7 mlx5_0")
    fabric.plug(("ff0", 1), ("a10", 9))
    (subject,) = found(judged(fabric))["fabric.hca.known"]
    assert subject.startswith("storage7 mlx5_0 (0x")
    for known in ("0xff0", "storage*"):
        assert found(judged(fabric, inventory=fabric.inventory(known=(known,)))) == {}
    silent = fabric.inventory(silent={"node99": "unreachable by ssh"})
    assert list(found(judged(fabric, inventory=silent), "unknown")) == ["fabric.hca.known"]
    own = fabric.inventory(silent={"storage7": "unreachable by ssh"})
    assert found(judged(fabric, inventory=own), "unknown") == {}


def test_switches_own_aggregation_nodes_are_no_strangers() -> None:
    fabric = tree()
    fabric.nodes["ff0"] = ("H", "Mellanox Technologies Aggregation Node")
    fabric.plug(("ff0", 1), ("a10", 41))
    assert found(judged(fabric)) == {}


@pytest.mark.parametrize(
    ("records", "wanted", "ids"),
    [
        (sm_record("0x1c01") + sm_record("0x2c01", 13, 2), 1, []),
        (sm_record("0x1c01"), 1, ["fabric.sm.standby"]),
        (sm_record("0x1c01") + sm_record("0x2c01", 14, 2), 1, ["fabric.sm.priority"]),
        (sm_record("0x1c01") + sm_record("0x2c01", 13, 3), None, ["fabric.sm.master"]),
    ],
    ids=["a standby", "no standby", "equal priorities", "two masters"],
)
def test_subnet_managers(records: str, wanted: int | None, ids: list[str]) -> None:
    fabric = tree()
    fabric.managers = records
    assert list(found(judged(fabric, standbys=wanted))) == ids


def test_nobody_answers_as_a_subnet_manager() -> None:
    fabric = tree()
    answers = fabric.answers()
    said = "ibwarn: [9] x\nsminfo: iberror: failed: query\n"
    answers["sminfo"] = {"rc": 255, "stdout": "", "stderr": said}
    answers["saquery_sm"] = {"rc": 110, "stdout": "", "stderr": "Query SA failed: timed out\n"}
    told = judged(fabric, answers)
    assert found(told) == {"fabric.sm.master": ["fabric"]}
    assert "fabric.sm.priority" in found(told, "unknown")


def test_two_devices_of_one_guid_are_told_from_a_list_that_was_cut() -> None:
    fabric = tree()
    answers = fabric.answers()
    said = (
        "./libibnetdisc/ibnetdisc.c:660; Duplicate Port: Port with guid 0x3c01 already exists in "
        "ports DB\n"
    )
    answers["ibnetdiscover"]["stderr"] = answers["iblinkinfo"]["stderr"] = said
    told = judged(fabric, answers)
    assert found(told) == {"fabric.guid.unique": ["0x0000000000003c01"]}
    assert found(told, "unknown") == {}


def test_a_report_of_counters_that_was_cut_is_unknown_whatever_it_says_of_guids() -> None:
    fabric = tree()
    answers = fabric.answers()
    said = "libibnetdisc/ibnetdisc.c:660; Duplicate Port: Port with guid 0x3c01 already exists\n"
    for name in ("ibqueryerrors", "ibqueryerrors_again"):
        answers[name] = {**answers[name], "stderr": said}
    assert found(judged(fabric, answers)) == found(judged(fabric, answers), "unknown") == {}
    answers["ibqueryerrors"]["stdout"] = answers["ibqueryerrors"]["stdout"].replace("99 p", "0 p")
    assert "fabric.cable.errors" in found(judged(fabric, answers), "unknown")


def test_a_complaint_of_which_no_check_tells_leaves_the_discovery_in_doubt() -> None:
    fabric = tree()
    answers = fabric.answers()
    said = "libibnetdisc/ibnetdisc.c:660; Duplicate Node: Node with guid 0x3c00 already exists\n"
    answers["ibnetdiscover"]["stderr"] = said
    assert "fabric.guid.unique" in found(judged(fabric, answers), "unknown")


def test_a_guid_on_two_hosts() -> None:
    fabric = tree()
    fabric.rails[4] = replace(fabric.rails[4], node_guid="3c00", port_guid="3c01")
    assert "fabric.guid.unique" in found(judged(fabric))


def _lost(name: str) -> Callable[[dict[str, Any]], None]:
    def lose(answers: dict[str, Any]) -> None:
        answers[name] = {"unavailable": f"{name}: gave no complete answer within 120 s"}

    return lose


def _cut(name: str, share: float) -> Callable[[dict[str, Any]], None]:
    def cut(answers: dict[str, Any]) -> None:
        text = answers[name]["stdout"].rstrip("\n").split("\n")
        answers[name]["stdout"] = "\n".join(text[: int(len(text) * share)]) + "\n"

    return cut


def _failed(name: str) -> Callable[[dict[str, Any]], None]:
    def fail(answers: dict[str, Any]) -> None:
        # Of ibqueryerrors, 1 says that a counter is above 0.
        answers[name]["rc"] = 2

    return fail


NEEDS = {
    "ibnetdiscover": ("fabric.leaf.present", "fabric.leaf.uplinks", "fabric.cabling.missing"),
    "iblinkinfo": ("fabric.cable.width", "fabric.cable.speed", "fabric.link.state"),
    "ibqueryerrors": ("fabric.cable.errors", "fabric.counters.saturated"),
    "ibqueryerrors_again": ("fabric.cable.errors", "fabric.counters.saturated"),
    "saquery_sm": ("fabric.sm.priority", "fabric.sm.standby"),
}


@pytest.mark.parametrize("how", ["lost", "cut", "failed"])
@pytest.mark.parametrize("name", NEEDS)
def test_what_was_not_seen_never_passes(name: str, how: str) -> None:
    fabric = tree()
    answers = fabric.answers()
    spoil = {"lost": _lost, "cut": lambda one: _cut(one, 0.5), "failed": _failed}[how]
    spoil(name)(answers)
    told = judged(fabric, answers, plan=fabric.discovery(), standbys=0)
    results = {one["id"]: one["result"] for one in told.fabrics[0]["checks"]}
    passed = {one for one, result in results.items() if result == PASS}
    assert not passed & set(NEEDS[name])
    assert told.fabrics[0]["verdict"] != "ready"
    assert "fabric.hca.present" not in found(told)
    assert "fabric.cabling.missing" not in found(told)


def test_a_discovery_that_sees_only_itself_says_nothing_of_the_rest() -> None:
    fabric = tree()
    whole = fabric.cables
    fabric.cables = {}
    fabric.nodes = {"1c00": fabric.nodes["1c00"]}
    told = judged(fabric)
    assert whole
    assert found(told) == {"fabric.discovery.neighbours": ["node1 mlx5_0/1"]}
    assert told.fabrics[0]["verdict"] == "not_ready"
    assert "fabric.hca.present" in found(told, "unknown")


def test_fabrics_of_their_own_for_each_rail_are_judged_together() -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    first, second = rails(width=1, spines=0), Fabric()
    leaf = second.switch("a90", "other1")
    for host in range(4):
        guid = second.hca(f"{host + 1}d00", f"node{host + 1}", "mlx5_1", 1)
        second.plug((guid, 1), (leaf, host + 1))
    second.asks = "1d00"
    inventory = Inventory((*first.rails, *second.rails))

    def both() -> judge.Judged:
        looks = [
            read.read(
                "node1",
                {"device": f"mlx5_{n}", "port": 1, "seconds": 5.0, "answers": one.answers()},
            )
            for n, one in enumerate((first, second))
        ]
        return judge.judge(looks, inventory, judge.Wishes())

    told = both()
    assert found(told) == {}
    assert [one["name"] for one in told.fabrics] == ["mlx5_0/1", "mlx5_1/1"]
    # node3's second HCA is plugged into the first rail's fabric.
    second.remove("3d00")
    first.nodes["3d00"] = ("H", "node3 mlx5_1")
    first.plug(("3d00", 1), ("a00", 9))
    assert found(both()) == {"fabric.rail.leaf": ["node3 mlx5_1/1"]}


def test_two_looks_at_one_fabric_count_once() -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    fabric = rails()
    look = {"port": 1, "seconds": 5.0, "answers": fabric.answers()}
    looks = [read.read("node1", {"device": f"mlx5_{rail}", **look}) for rail in range(2)]
    told = judge.judge(looks, fabric.inventory(), judge.Wishes())
    assert len(told.fabrics) == 1
    assert found(told) == {}


def test_the_rows_say_who_is_who_and_where() -> None:
    told = judged(rails()).fabrics[0]
    row = next(one for one in told["nodes"] if one["host"] == "node2" and one["rail"] == 2)
    assert row == {
        "guid": "0x0000000000002c10",
        "name": "node2 mlx5_1",
        "type": "ca",
        "host": "node2",
        "hca": "mlx5_1/1",
        "rail": 2,
        "level": "",
        "leaf": "0x0000000000000a10",
    }
    assert {one["level"] for one in told["nodes"] if one["type"] == "switch"} == {"leaf", "spine"}
    assert {one["gbps"] for one in told["links"]} == {400.0}
    assert len(told["links"]) == 12
    assert fabrics.found(judged(rails())) == {}


def _both(first: Fabric, second: Fabric, host: str = "node1", port: str = "mlx5_1/1") -> Any:
    """Two fabrics, the second asked by ``host`` through ``port``."""
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": first.answers()}
    device, _slash, number = port.partition("/")
    other = {"device": device, "port": int(number), "seconds": 5.0, "answers": second.answers()}
    inventory = Inventory((*first.rails, *second.rails))
    looks = [read.read("node1", look), read.read(host, other)]
    return judge.judge(looks, inventory, judge.Wishes())


def _island(first: int, hosts: int) -> Fabric:
    """One switch with hosts of one HCA."""
    made = Fabric()
    leaf = made.switch(f"a{first}0", f"leaf of {first}")
    for at in range(hosts):
        guid = made.hca(f"{first + at}c00", f"node{first + at}", "mlx5_0", 0)
        made.plug((guid, 1), (leaf, at + 1))
    made.asks = f"{first}c00"
    return made


def test_fabrics_that_are_asked_through_ports_of_one_name_have_names_of_their_own() -> None:
    told = _both(_island(1, 3), _island(5, 3), "node5", "mlx5_0/1")
    assert [one["name"] for one in told.fabrics] == ["mlx5_0/1 of node1", "mlx5_0/1 of node5"]
    assert found(told) == {}


def test_the_two_ports_of_one_adapter_may_be_on_two_fabrics() -> None:
    first, second = _island(1, 3), Fabric()
    leaf = second.switch("b90", "other")
    for at in range(3):
        # One node GUID, as ConnectX-3 has; its second port has the next port GUID.
        guid = f"{1 + at}c00"
        second.nodes[guid] = ("H", f"node{1 + at} mlx5_0")
        name = f"node{1 + at}"
        second.rails.append(Hca(name, "mlx5_0/2", guid, f"{1 + at}c02", 1, "Active"))
        second.plug((guid, 2), (leaf, at + 1))
    second.asks = "1c00"
    told = _both(first, second, port="mlx5_0/2")
    assert [one["name"] for one in told.fabrics] == ["mlx5_0/1", "mlx5_0/2"]
    assert found(told) == {}
    # The cable of node2's first port is gone; that its adapter is on the other fabric is no proof.
    first.pull(("2c00", 1))
    assert found(_both(first, second, port="mlx5_0/2")) == {
        "fabric.hca.present": ["node2 mlx5_0/1"]
    }


def test_a_host_that_is_off_and_told_nothing_is_not_taken_for_a_spine() -> None:
    fabric = rails()
    for guid in ("3c00", "3c10"):
        fabric.remove(guid)
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    fabric.rails = [one for one in fabric.rails if one.host != "node3"]
    inventory = fabric.inventory(silent={"node3": "unreachable by ssh"})
    assert found(judged(fabric, inventory=inventory)) == {}


def test_a_report_of_counters_that_asked_no_port_is_unknown() -> None:
    fabric = tree()
    answers = fabric.answers()
    for name in ("ibqueryerrors", "ibqueryerrors_again"):
        said = answers[name]["stdout"]
        answers[name]["stdout"] = said.replace("99 ports", "0 ports").replace("9 nodes", "0 nodes")
    told = found(judged(fabric, answers), "unknown")
    assert {"fabric.cable.errors", "fabric.counters.saturated"} <= set(told)


def test_a_host_that_was_taken_away_is_not_taken_for_a_spine() -> None:
    """It is in no inventory any more; of a rail design every leaf has lost one port."""
    fabric = rails(hosts=5)
    for guid in ("5c00", "5c10"):
        fabric.remove(guid)
    fabric.rails = [one for one in fabric.rails if one.host != "node5"]
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    assert found(judged(fabric)) == {}
    # A spine beside it is still told: its ports are among the uplinks.
    fabric.remove("b10")
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    assert found(judged(fabric)) == {"fabric.spine.present": ["fabric"]}


def test_many_adapters_that_may_be_of_silent_hosts_are_told_together() -> None:
    fabric = tree(leaves=3, each=4)
    fabric.rails = fabric.rails[:2]
    inventory = fabric.inventory(silent={"gpu7": "it took no part in this run"})
    told = judged(fabric, inventory=inventory)
    (one,) = [each for each in told.fabrics[0]["checks"] if each["id"] == "fabric.hca.known"]
    assert one["result"] == "unknown"
    assert one["cause"].startswith("10 adapters may be of gpu7, which told nothing: node3 mlx5_0")


def test_every_adapter_of_a_leaf_counts_whoever_told_of_it() -> None:
    fabric = tree(each=6, cables=1)
    fabric.rails = fabric.rails[:2]
    inventory = fabric.inventory(silent={f"node{at}": "unreachable" for at in range(3, 19)})
    told = found(judged(fabric, inventory=inventory, oversubscription=2.0))
    assert told == {"fabric.leaf.subscription": ["leaf1", "leaf2", "leaf3"]}
    # What switches themselves put on the fabric uses no uplink.
    fabric = tree(each=4, cables=1)
    fabric.nodes["ff0"] = ("H", "Mellanox Technologies Aggregation Node")
    fabric.plug(("ff0", 1), ("a10", 41))
    assert found(judged(fabric, oversubscription=2.0)) == {}
