# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is on a fabric: strangers, one GUID twice, subnet managers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.fabrics import found, judged, rails, sm_record, tree


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
    reported = judged(fabric, answers)
    assert found(reported) == {"fabric.sm.master": ["fabric"]}
    assert "fabric.sm.priority" in found(reported, "unknown")
    # An adapter that nobody expects may be that of the manager which is gone: nobody is told to unplug it.
    fabric.nodes["ff0"] = ("H", "sm1 mlx5_0")
    fabric.plug(("ff0", 1), ("a10", 9))
    reported = judged(fabric, {**fabric.answers(), **{name: answers[name] for name in ("sminfo", "saquery_sm")}})
    assert "fabric.hca.known" in found(reported, "unknown")
    assert found(reported) == {"fabric.sm.master": ["fabric"]}


def test_two_devices_of_one_guid_are_told_from_a_list_that_was_cut() -> None:
    fabric = tree()
    answers = fabric.answers()
    said = "./libibnetdisc/ibnetdisc.c:660; Duplicate Port: Port with guid 0x3c01 already exists in ports DB\n"
    answers["ibnetdiscover"]["stderr"] = answers["iblinkinfo"]["stderr"] = said
    reported = judged(fabric, answers)
    assert found(reported) == {"fabric.guid.unique": ["0x0000000000003c01"]}
    assert found(reported, "unknown") == {}


@pytest.mark.parametrize(("victim", "other"), [(2, 4), (4, 2)])
def test_a_guid_that_two_hosts_claim_and_one_adapter_has_takes_neither_off_the_fabric(victim: int, other: int) -> None:
    fabric = tree()
    own = fabric.rails[victim]
    fabric.rails[other] = replace(fabric.rails[other], node_guid=own.node_guid, port_guid=own.port_guid)
    reported = judged(fabric)
    assert found(reported, "unknown") == {"fabric.guid.unique": [f"0x{own.node_guid:0>16}"]}
    assert set(found(reported)) == {"fabric.hca.known"}
    (check,) = [one for one in reported.fabrics[0]["checks"] if one["id"] == "fabric.guid.unique"]
    assert f"saw {own.host} mlx5_0 alone" in check["cause"]
    assert {one.result for checks in reported.hosts.values() for one in checks} == {"pass"}


def test_a_host_that_is_off_and_told_nothing_is_not_taken_for_a_spine() -> None:
    fabric = rails()
    for guid in ("3c00", "3c10"):
        fabric.remove(guid)
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    fabric.rails = [one for one in fabric.rails if one.host != "node3"]
    inventory = fabric.inventory(silent={"node3": "unreachable by ssh"})
    assert found(judged(fabric, inventory=inventory)) == {}


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
    reported = judged(fabric, inventory=inventory)
    (one,) = [each for each in reported.fabrics[0]["checks"] if each["id"] == "fabric.hca.known"]
    assert one["result"] == "unknown"
    assert one["cause"].startswith("10 adapters may be of gpu7, which told nothing: node3 mlx5_0")


def test_every_adapter_of_a_leaf_counts_whoever_told_of_it() -> None:
    fabric = tree(each=6, cables=1)
    fabric.rails = fabric.rails[:2]
    inventory = fabric.inventory(silent={f"node{at}": "unreachable" for at in range(3, 19)})
    reported = found(judged(fabric, inventory=inventory, oversubscription=2.0))
    assert reported == {"fabric.leaf.subscription": ["leaf1", "leaf2", "leaf3"]}
    # What switches themselves put on the fabric uses no uplink.
    fabric = tree(each=4, cables=1)
    fabric.nodes["ff0"] = ("H", "Mellanox Technologies Aggregation Node")
    fabric.plug(("ff0", 1), ("a10", 41))
    assert found(judged(fabric, oversubscription=2.0)) == {}
