# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

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
    assert [line.split()[:2] for line in text.splitlines()] == [
        ["HOST", "VERDICT"],
        ["n1", "ready"],
    ]


def test_what_a_down_port_makes_impossible_to_tell_stands_behind_it() -> None:
    seen = facts(hca("mlx5_0", port(state="Down", physical_state="Polling", lid=0, sm_lid=0)))
    expect = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}
    text = render(report(*ib.judge(seen, from_inventory(expect))))
    assert blocks(text) == [
        "FAIL ib.port.state mlx5_0/1",
    ]
    assert text.endswith(
        "affects:  ib.port.physical_state"
        ", and 4 checks could not look: ib.port.rate, ib.port.lid, ib.port.sm, fabric.sm.answers"
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
        [
            unknown("ib.port.lid", "mlx5_0/1", DOWN),
            unknown("ib.port.guid", "mlx5_0/1", "ibstat showed no GUID"),
        ],
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
    assert [line.split("  ")[0] for line in table] == ["n1, n2, n4 and 87 more", "n3, n13, n23 and 7 more"]
    assert text.count("n3, n13, n23 and 7 more are not_ready:") == 1
    assert blocks(text) == ["FAIL ib.port.lid mlx5_0/1"]


def test_few_hosts_have_a_row_and_a_block_each() -> None:
    bad = report(failed("ib.port.lid", "mlx5_0/1", 0, "1 to 49151", "capability"))["hosts"]["n1"]
    text = render({"simulated": "", "hosts": {"n1": bad, "n2": bad}, "pings": []})
    assert "n1 is not_ready:" in text
    assert "n2 is not_ready:" in text
