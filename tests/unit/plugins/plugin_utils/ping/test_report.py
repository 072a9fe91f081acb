# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says of a sample: as much as was tested, and no more."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import (
    ping_again,
    ping_plan,
    ping_questions,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page as html
from tests.unit import pages
from tests.unit.samples import node
from tests.unit.tcp_told import tcp

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
RAILS = ("mlx5_0/1", "mlx5_1/1")
CLOCK = {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19}
Lost = frozenset[tuple[str, str]]


def hostvars(count: int) -> dict[str, dict[str, Any]]:
    """So many healthy hosts before they pinged."""
    names = [f"n{index}" for index in range(1, count + 1)]
    return {
        name: {
            "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
            "ibready_ibverify": {"checks": [], "facts": {"ib": node(index).to_dict()}, "clock": CLOCK},
            "ibready_expect": EXPECT,
            "ibready_tcp": False,
            **tcp(),
        }
        for index, name in enumerate(names, 1)
    }


def answers(asked: list[dict[str, Any]], client: str, lost: Lost) -> list[dict[str, Any]]:
    return [
        {
            "rail": one["rail"],
            "server": one["server"],
            "untested": "",
            "sent": 50,
            "received": 0 if {(client, one["rail"]), (one["server"], one["rail"])} & lost else 50,
            "rtt_avg": 0.02,
            "rtt_max": 0.1,
        }
        for one in asked
    ]


def play(known: dict[str, dict[str, Any]], lost: Lost = frozenset(), **wishes: Any) -> None:
    """What playbooks/tasks/ping.yml does; ports in ``lost`` answer nobody and reach nobody."""
    made = json.loads(json.dumps(ping_plan(known, list(known), seed=3, forks=32, **wishes)))
    for name, mine in known.items():
        mine["ibready_ping_plan"] = made
        mine["ibready_pings"] = [
            answer
            for visit in range(made["visits"])
            for answer in answers(ping_questions(made, name, visit), name, lost)
        ]
    for name, asked in ping_again(known, made).items():
        known[name]["ibready_pings_again"] = answers(asked, name, lost)


def report(known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    made = _hosts.ping_plan(known, list(known))
    hosts = _hosts.gather(known, list(known))
    return cluster.report(hosts, size=len(known), created=NOW, version="0.1.0", plan=made)


def checks(seen: dict[str, Any], name: str, check_id: str) -> list[dict[str, Any]]:
    return [one for one in seen["hosts"][name]["checks"] if one["id"] == check_id]


def verdicts(seen: dict[str, Any]) -> set[str]:
    return {host["verdict"] for host in seen["hosts"].values()}


def test_a_sample_is_ready_and_says_at_every_port_what_it_was() -> None:
    known = hostvars(12)
    play(known, full_mesh=4, rounds=3)
    seen = report(known)
    assert verdicts(seen) == {"ready"}
    for one in checks(seen, "n5", "fabric.ping.tested"):
        assert one["observed"] == "sampled: 3 of 11 other hosts, 6 of 6 pairs"
        assert one["expected"] == "6 pairs of a sample (seed 3)"
    assert len(seen["pings"]) == 12 * 3 * 2
    reported = seen["ping_coverage"]
    assert reported["sampled"]
    assert (reported["seed"], reported["rounds"]) == (3, 3)
    assert reported["pairs"] == {"all": 264, "tested": 72, "untested": 192}
    assert reported["partners"] == {"least": 3, "most": 3, "of": 11, "fewest": []}
    for text in (render_text.render(seen), pages.words(seen)):
        assert re.search(r"ample (?:of the pairs )?\(seed 3, 3 rounds\): 72 of 264 ", text)
        assert "12 hosts are more than ibready_ping_full_mesh (4): 3 random rounds." in text


def test_a_full_mesh_says_nothing_of_samples() -> None:
    known = hostvars(4)
    play(known)
    seen = report(known)
    assert verdicts(seen) == {"ready"}
    assert seen["ping_coverage"]["pairs"] == {"all": 24, "tested": 24, "untested": 0}
    assert "sample" not in render_text.render(seen)


@pytest.mark.parametrize("full_mesh", [4, 32], ids=["of a sample", "of a full mesh"])
def test_a_dead_port_is_named_once_with_what_the_second_pass_told(full_mesh: int) -> None:
    known = hostvars(12)
    play(known, frozenset({("n7", RAILS[1])}), full_mesh=full_mesh, rounds=3)
    seen = report(known)
    bad = [name for name, host in seen["hosts"].items() if host["verdict"] != "ready"]
    assert bad == ["n7"]
    assert {one["client"] for one in seen["ping_again"]} == {"n7"}
    assert len(seen["ping_again"]) == 4
    (failed,) = [one for one in checks(seen, "n7", "fabric.ping.reachable") if one["result"] == "fail"]
    assert failed["subject"] == RAILS[1]
    assert failed["observed"].endswith("; asked again, 4 of 4 known-good partners")
    assert "who do better with others, and 1 other rail of this host loses none" in failed["cause"]
    assert "its port, its cable or the switch port" in failed["cause"]


def test_a_dead_leaf_is_named_at_its_hosts_from_the_fabric_s_own_words() -> None:
    known = hostvars(9)
    fabric = {
        "fabrics": [
            {
                "nodes": [
                    {"host": name, "hca": rail.split("/")[0], "leaf": f"0x{number // 3}{rail[5]}"}
                    for number, name in enumerate(known)
                    for rail in RAILS
                ]
            }
        ]
    }
    dead = frozenset((name, RAILS[0]) for name in ("n4", "n5", "n6"))
    play(known, dead, full_mesh=4, fabric=fabric)
    seen = report(known)
    causes = {
        (name, one["cause"])
        for name in known
        for one in checks(seen, name, "fabric.ping.reachable")
        if one["result"] == "fail"
    }
    assert {name for name, _ in causes} == {"n4", "n5", "n6"}
    (cause,) = {why for _, why in causes}
    assert "all 3 hosts of leaf switch 0x10" in cause


def test_a_budget_too_small_for_a_single_round_is_unknown_and_says_so() -> None:
    known = hostvars(3)
    play(known, budget=30)
    seen = report(known)
    assert verdicts(seen) == {"unknown"}
    (first, _) = checks(seen, "n1", "fabric.ping.tested")
    assert "ibready_ping_budget (30 s) holds 0 of 3 rounds, of at most 20 s each" in first["cause"]


def test_a_budget_makes_a_sample_of_a_small_cluster() -> None:
    known = hostvars(6)
    play(known, budget=180)
    seen = report(known)
    reported = seen["ping_coverage"]
    assert (reported["sampled"], reported["rounds"], reported["wanted"]) == (True, 3, 5)
    assert reported["worst_s"] <= 180
    assert verdicts(seen) == {"ready"}
    assert "holds 3 of 5 rounds" in render_text.render(seen)


def test_an_answer_that_a_sample_planned_and_that_never_came_is_unknown() -> None:
    known = hostvars(12)
    play(known, full_mesh=4, rounds=3)
    known["n2"]["ibready_pings"] = known["n2"]["ibready_pings"][1:]
    seen = report(known)
    (first, _) = checks(seen, "n2", "fabric.ping.tested")
    assert first["result"] == "unknown"
    assert first["cause"] == "it was not asked to ping"


def test_a_port_that_is_down_is_unknown_in_a_sample_with_its_own_reason() -> None:
    known = hostvars(12)
    for port in known["n3"]["ibready_ibverify"]["facts"]["ib"]["cas"]:
        port["ports"][0]["state"] = "Down"
    play(known, full_mesh=4, rounds=3)
    seen = report(known)
    assert seen["ping_coverage"]["partners"]["fewest"][0] == {"host": "n3", "rail": RAILS[0], "partners": 0}
    for one in checks(seen, "n3", "fabric.ping.tested"):
        assert (one["result"], one["cause"]) == ("unknown", "the port is Down")


def test_many_hosts_that_nobody_pinged_are_counted_and_not_listed() -> None:
    known = hostvars(130)
    seen = report(known)
    assert seen["pings"] == []
    assert verdicts(seen) == {"unknown"}
    assert seen["ping_coverage"]["pairs"] == {"all": 33540, "tested": 0, "untested": 33540}


def test_the_page_shows_no_thousands_of_good_pings() -> None:
    known = hostvars(24)
    play(known, frozenset({("n7", RAILS[1])}))
    seen = report(known)
    assert len(seen["pings"]) == 1104
    page = pages.parse(html.render(seen))
    assert "46 of 1,104 pings: those that have a problem or are missing" in page.words
    assert sum(one.attributes.get("data-sent") == "50" for one in page.elements) == 46


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        pytest.param("rounds", {"rounds": 0}, id="no round"),
        pytest.param("budget", {"budget": -1}, id="less than no time"),
        pytest.param("full_mesh", {"full_mesh": "many"}, id="a word"),
        pytest.param("at_once", {"at_once": 0}, id="nobody at a time"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_by_name(name: str, wish: dict[str, Any]) -> None:
    with pytest.raises(AnsibleFilterError, match=f"ibready_ping_{name} must be a whole number"):
        ping_plan(hostvars(2), ["n1", "n2"], **wish)


def test_without_a_seed_the_day_is_one() -> None:
    assert ping_plan(hostvars(2), ["n1", "n2"])["seed"] >= 20261122
