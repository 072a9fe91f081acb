# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import area as ib
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check, failed, passed, unknown
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.render_text import render
from tests.unit.samples import facts, hca, port

DOWN = "the port is Down"


def report(*checks: Check, pings: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A report of the one host n1."""
    host = {
        "verdict": _model.verdict(checks),
        "checks": [check.to_dict() for check in checks],
        "facts": {"node": {}, "ib": None},
    }
    return {"simulated": "", "hosts": {"n1": host}, "pings": pings or []}


def blocks(text: str) -> list[str]:
    """The headline of each block: the result, the checks and their subject."""
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(("  FAIL ", "  UNKNOWN "))]


def test_a_host_without_trouble_is_a_line_of_the_table_and_no_more() -> None:
    text = render(report(passed("ib.port.state", "mlx5_0/1", "Active", "Active", "capability")))
    assert [line.split()[:2] for line in text.splitlines()] == [["HOST", "VERDICT"], ["n1", "ready"]]


def test_what_a_down_port_makes_impossible_to_tell_stands_behind_it() -> None:
    seen = facts(hca("mlx5_0", port(state="Down", physical_state="Polling", lid=0, sm_lid=0)))
    expect = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}
    text = render(report(*ib.judge(seen, from_inventory(expect))))
    assert blocks(text) == ["FAIL ib.port.state mlx5_0/1"]
    assert text.endswith(
        "affects:  ib.port.physical_state"
        ", and 4 checks that could not look: ib.port.rate, ib.port.lid, ib.port.sm, fabric.sm.answers"
    )


GROUPS = [
    pytest.param(
        [
            failed("ib.port.lid", "mlx5_0/1", 0, "1 to 49151", "capability", cause="no sweep"),
            failed("ib.port.sm", "mlx5_0/1", 0, "an SM lid", "capability", cause="no sweep"),
        ],
        ["FAIL ib.port.lid mlx5_0/1", "FAIL ib.port.sm mlx5_0/1"],
        id="failures of one cause stay apart",
    ),
    pytest.param(
        [unknown("ib.port.lid", "mlx5_0/1", DOWN), unknown("ib.port.lid", "mlx5_1/1", DOWN)],
        ["UNKNOWN ib.port.lid mlx5_0/1, mlx5_1/1"],
        id="the same of two subjects is told once",
    ),
    pytest.param(
        [unknown("ib.port.lid", "mlx5_0/1", DOWN), unknown("ib.port.guid", "mlx5_0/1", "ibstat showed no GUID")],
        ["UNKNOWN ib.port.lid mlx5_0/1", "UNKNOWN ib.port.guid mlx5_0/1"],
        id="two causes stay apart",
    ),
    pytest.param(
        [
            unknown("ib.port.lid", "mlx5_0/1", DOWN, remedy="wait"),
            unknown("ib.port.sm", "mlx5_0/1", DOWN, remedy="fix"),
        ],
        ["UNKNOWN ib.port.lid mlx5_0/1", "UNKNOWN ib.port.sm mlx5_0/1"],
        id="two remedies stay apart",
    ),
    pytest.param(
        [
            unknown("ib.port.lid", "mlx5_0/1", DOWN, remedy="fix the state"),
            failed("ib.port.state", "mlx5_0/1", "Down", "Active", "capability", cause=DOWN),
            unknown("ib.port.sm", "mlx5_0/1", DOWN, remedy="fix the state"),
        ],
        ["FAIL ib.port.state mlx5_0/1"],
        id="what follows from a failure stands behind it",
    ),
]


@pytest.mark.parametrize(("checks", "headlines"), GROUPS)
def test_only_consequences_of_one_cause_share_a_block(checks: list[Check], headlines: list[str]) -> None:
    assert blocks(render(report(*checks))) == headlines


def test_each_failure_says_what_was_seen_expected_why_and_what_next() -> None:
    check = failed("ib.port.rate", "mlx5_0/1", "100 Gb/s", "400 Gb/s", "inventory", cause="dirt", remedy="wipe")
    assert render(report(check)).splitlines()[-6:] == [
        "n1 is not_ready:",
        "  FAIL    ib.port.rate  mlx5_0/1",
        "          seen:     100 Gb/s",
        "          expected: 400 Gb/s (from inventory)",
        "          cause:    dirt",
        "          remedy:   wipe",
    ]


def ping(server: str, culprit: str, why: str) -> dict[str, Any]:
    return {
        "client": "n1",
        "server": server,
        "rail": "r",
        "sent": 0,
        "received": 0,
        "untested": why,
        "culprit": culprit,
    }


def test_untested_pairs_are_told_by_culprit_and_reason() -> None:
    tested = {**ping("n9", "", ""), "sent": 50, "received": 50}
    pings = [ping("n2", "n2", DOWN), ping("n3", "n1", DOWN), ping("n4", "n2", DOWN), tested]
    assert render(report(pings=pings)).splitlines()[-5:] == [
        "3 of 4 pairs were not tested:",
        f"  n2: {DOWN}",
        "          n1->n2 r, n1->n4 r",
        f"  n1: {DOWN}",
        "          n1->n3 r",
    ]


@pytest.mark.parametrize(("count", "cut"), [(6, False), (7, True)])
def test_a_long_list_of_pairs_says_that_it_is_cut(count: int, cut: bool) -> None:
    pings = [ping(f"n{index}", "n1", DOWN) for index in range(count)]
    last = render(report(pings=pings)).splitlines()[-1]
    assert last.endswith(" ...") is cut
    assert last.count("->") == 6


def test_many_hosts_that_say_the_same_are_told_of_together() -> None:
    good = report(passed("ib.port.state", "mlx5_0/1", "Active", "Active", "capability"))["hosts"]["n1"]
    bad = report(failed("ib.port.lid", "mlx5_0/1", 0, "1 to 49151", "capability"))["hosts"]["n1"]
    hosts = {f"n{number}": bad if number % 10 == 3 else good for number in range(1, 101)}
    text = render({"simulated": "", "hosts": hosts, "pings": []})
    table = [line for line in text.splitlines() if " ready " in line or " not_ready " in line]
    assert [line.split("  ")[0] for line in table] == ["n1, n2, n4 and 87 more", "n[3,13,23,33,43,53,63,73,83,93]"]
    assert text.count("n[3,13,23,33,43,53,63,73,83,93] are not_ready:") == 1
    assert blocks(text) == ["FAIL ib.port.lid mlx5_0/1"]


def of_hosts(**checks: Check) -> dict[str, Any]:
    hosts = {name.replace("_", "."): report(check)["hosts"]["n1"] for name, check in checks.items()}
    return {"simulated": "", "hosts": hosts, "pings": []}


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]


def test_two_equal_hosts_are_a_row_and_a_block() -> None:
    bad = failed("ib.port.lid", "mlx5_0/1", 0, "1 to 49151", "capability")
    text = render(of_hosts(n1=bad, n2=bad, n3=passed("ib.port.lid", "mlx5_0/1", 1)))
    assert [line.split()[:2] for line in text.splitlines()[1:3]] == [["n[1-2]", "not_ready"], ["n3", "ready"]]
    assert heads(text) == ["n[1-2] are not_ready:"]
    assert blocks(text) == ["FAIL ib.port.lid mlx5_0/1"]


def test_what_differs_is_told_of_each_host() -> None:
    lids = {f"n{at}": failed("ib.port.lid", f"mlx5_{at}/1", 0, "1 to 49151", "capability") for at in (1, 2)}
    assert heads(render(of_hosts(**lids))) == ["n1 is not_ready:", "n2 is not_ready:"]
    # A count in a text is no host of that name.
    counts = {at: unknown("ib.port.lid", "host", f"{at} of 8 GPUs") for at in ("1", "2")}
    assert heads(render(of_hosts(**counts))) == ["1 is unknown:", "2 is unknown:"]


def test_who_has_no_name_of_its_own_is_told_of_once_with_the_others() -> None:
    shared = failed("fleet.host.name", "host", "vm, the name of n1, n2", "a name of its own", "capability")
    assert heads(render(of_hosts(n1=shared, n2=shared))) == ["n[1-2] are not_ready:"]


def gone(name: str, address: str) -> Check:
    said = f"ssh: connect to host {address} port 22: No route to host"
    found = unknown("host.access.reachable", "host", said, remedy=f"try `ssh -v ops@{address}`, or {name}")
    return replace(found, evidence={"address": address})


def test_sixteen_hosts_that_nobody_reaches_are_one_row_and_one_finding() -> None:
    names = [f"gpu{at:02}_cluster_example" for at in range(1, 17)]
    for addresses in (names, [f"10.0.0.{at}" for at in range(16)]):
        every = {
            name: gone(name.replace("_", "."), at.replace("_", ".")) for name, at in zip(names, addresses, strict=True)
        }
        text = render(of_hosts(**every))
        assert [line.split()[:2] for line in text.splitlines()[1:3]] == [["gpu[01-16].cluster.example", "unknown"], []]
        assert heads(text) == ["gpu[01-16].cluster.example are unknown, in the words of gpu01.cluster.example:"]
        assert text.count("No route to host") == text.count("try `ssh -v ops@") == 1
        # A command that somebody can type.
        assert f"try `ssh -v ops@{addresses[0].replace('_', '.')}`" in text
