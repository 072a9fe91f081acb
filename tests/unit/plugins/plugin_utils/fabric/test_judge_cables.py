# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables in the wrong place, slow or counting errors, each by its id and its ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.fabrics import Fabric, found, judged, rails, tree


def test_a_wrong_rail_names_both_leaves() -> None:
    fabric = rails()
    fabric.pull(("3c10", 1))
    fabric.plug(("3c10", 1), ("a00", 9))
    reported = judged(fabric)
    assert found(reported) == {"fabric.rail.leaf": ["node3 mlx5_1/1"]}
    check = next(one for one in reported.hosts["node3"] if one.result == "fail")
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


def renamed(fabric: Fabric, host: str) -> None:
    """Every host tells the PCI order of its two rails; on this one they have exchanged their names."""
    for index, hca in enumerate(fabric.rails):
        place = 1 - hca.rail if hca.host == host else hca.rail
        fabric.rails[index] = replace(hca, place=place)


def test_rails_that_exchanged_their_names_are_not_blamed_on_cables() -> None:
    fabric = rails()
    for end in (("3c00", 1), ("3c10", 1)):
        fabric.pull(end)
    fabric.plug(("3c10", 1), ("a00", 3))
    fabric.plug(("3c00", 1), ("a10", 3))
    renamed(fabric, "node3")
    checks = [one for one in judged(fabric).hosts["node3"] if one.result == "fail"]
    assert len(checks) == 2
    assert all("its cable is right and its name is not" in one.cause for one in checks)
    assert all(one.remedy.startswith("leave the cables") for one in checks)


def test_swapped_cables_of_a_host_with_names_like_the_others_stay_swapped() -> None:
    fabric = rails()
    for end in (("3c00", 1), ("3c10", 1)):
        fabric.pull(end)
    fabric.plug(("3c10", 1), ("a00", 3))
    fabric.plug(("3c00", 1), ("a10", 3))
    renamed(fabric, "none")
    checks = [one for one in judged(fabric).hosts["node3"] if one.result == "fail"]
    assert all("are swapped" in one.cause and one.remedy == "move the cable to the named leaf" for one in checks)


def test_names_and_cables_of_a_host_that_are_both_exchanged_agree_with_the_leaves() -> None:
    fabric = rails()
    renamed(fabric, "node3")
    assert found(judged(fabric)) == {}


def test_swapped_cables_are_one_pair() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.pull(("3c00", 1))
    fabric.pull(("4c00", 1))
    fabric.plug(("3c00", 1), ("a10", 2))
    fabric.plug(("4c00", 1), ("a10", 1))
    reported = judged(fabric, plan=cabling)
    assert list(found(reported)) == ["fabric.cabling.swapped"]
    (subject,) = found(reported)["fabric.cabling.swapped"]
    assert "node3 mlx5_0/1" in subject
    assert "node4 mlx5_0/1" in subject
    assert [one["state"] for one in reported.fabrics[0]["links"]].count("miscabled") == 2


def test_a_cable_at_another_port_and_one_that_nobody_planned() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.pull(("3c00", 1))
    fabric.plug(("3c00", 1), ("a10", 9))
    fabric.plug(("a00", 20), ("a20", 20))
    reported = found(judged(fabric, plan=cabling))
    assert list(reported) == ["fabric.cabling.place", "fabric.cabling.extra"]
    assert reported["fabric.cabling.extra"] == ["leaf1/20 - leaf3/20"]


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
    reported = judged(fabric)
    assert found(reported) == {id_: ["node3 mlx5_0/1 - leaf2/1"]}
    check = next(one for one in reported.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["expected_from"] == source
    assert [one["state"] for one in reported.fabrics[0]["links"]].count("slow") == 1


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
    reported = found(judged(fabric, oversubscription=2.0))
    assert reported == {"fabric.leaf.subscription": ["leaf1", "leaf2", "leaf3"]}


def test_a_link_that_nobody_set_up() -> None:
    fabric = tree()
    fabric.states[("a00", 33)] = "Initialize/  LinkUp"
    fabric.states[("b00", 1)] = "Initialize/  LinkUp"
    assert found(judged(fabric)) == {"fabric.link.state": ["leaf1/33 - spine1/1"]}


def test_errors_count_where_they_rise() -> None:
    fabric = tree()
    fabric.counters[("a10", 1)] = ({"SymbolErrorCounter": 100}, {"SymbolErrorCounter": 600})
    fabric.counters[("a20", 1)] = ({"SymbolErrorCounter": 900}, {"SymbolErrorCounter": 900})
    reported = judged(fabric)
    assert found(reported) == {"fabric.cable.errors": ["leaf2/1"]}
    check = next(one for one in reported.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["observed"] == "SymbolErrorCounter +500 in 5.0 s"
    assert "the other end is node3 mlx5_0/1" in check["cause"]


def test_counters_that_somebody_cleared_are_unknown() -> None:
    fabric = tree()
    fabric.counters[("a10", 1)] = ({"SymbolErrorCounter": 100}, {})
    assert "fabric.cable.errors" in found(judged(fabric), "unknown")


def test_a_full_counter_hides_what_comes() -> None:
    fabric = tree()
    full = {"SymbolErrorCounter": 65535, "LinkDownedCounter": 255}
    fabric.counters[("a10", 1)] = (full, full)
    assert found(judged(fabric)) == {}
    both = {**full, "PortRcvErrors": 65535}
    fabric.counters[("a10", 1)] = (both, both)
    assert found(judged(fabric)) == {"fabric.counters.saturated": ["leaf2/1"]}
