# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of RoCE are found where the inventory has no word of the network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    NOT_READY,
    READY,
    UNKNOWN_VERDICT,
    Check,
    verdict,
)
from tests import cases
from tests.gauntlet import fault, render, run

BOARD = "hgx-h200-8-roce"
FAULTS = [one for one in fault.load() if one.area == "roce"]
# What tells of the network, by key of ibready_expect.
WORDS = {"link_layer", "hcas", "hcas_min", "rate_gbps", "rate_min_gbps", "profile"}


def unsaid(expect: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in expect.items() if key not in WORDS and not key.startswith("roce_")}


def judged(one: fault.Fault | fault.Oddity, **words: Any) -> list[Check]:
    described, tree = fault.broken(one)
    described.expect = {**unsaid(described.expect), **words}
    return run.judge(described, tree)


@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in cases.some(FAULTS, lambda one: one.check)])
def test_every_fault_of_roce_is_found_without_a_word(one: fault.Fault) -> None:
    checks = judged(one)
    found = [check for check in checks if check.id == one.check and check.result == "fail"]
    assert [check for check in found if not one.subject or check.subject == one.subject]
    others = {check.id for check in checks if check.result in ("fail", "unknown")}
    # Of a board without a profile nobody says how many HCAs it has.
    assert others <= {one.check, *one.also, *(("ib.hca.count",) if one.board == "l40s-8-roce" else ())}


@pytest.mark.parametrize("words", [{}, {"hcas": 8}, {"rate_gbps": 400}, {"link_layer": "Ethernet"}])
def test_a_healthy_board_on_roce_is_ready_without_a_word(words: dict[str, Any]) -> None:
    node = render.node(BOARD)
    node.expect = {**unsaid(node.expect), **words}
    checks = run.judge(node, render.render(node))
    assert verdict(checks) == READY
    judged_as_rails = {check.id for check in checks if check.result == "pass"}
    assert {"roce.qos.pfc", "roce.port.rate", "ib.port.errors", "ib.port.flaps", "ib.port.ber"} <= judged_as_rails


def test_somebody_may_say_that_the_ports_are_none() -> None:
    node = render.node(BOARD)
    node.expect = {**unsaid(node.expect), "ignore": [hca.name for hca in node.hcas]}
    checks = run.judge(node, render.render(node))
    assert {check.result for check in checks if check.id.startswith("roce.")} == {"skip"}


def test_where_nobody_can_tell_the_network_the_host_is_never_ready() -> None:
    # Its HCAs hang at another root port than the GPUs, and they are too few for the board's rails.
    node = render.node("hgx-h100-8")
    node.hcas = [hca for hca in node.hcas if hca.role == "storage"]
    node.expect = {**unsaid(node.expect), "hcas": 2, "rate_gbps": 200}
    checks = run.judge(node, render.render(node))
    assert [check.result for check in checks if check.id == "roce.rail.present"] == ["unknown"]
    assert verdict([check for check in checks if check.id.startswith(("ib.", "roce."))]) == UNKNOWN_VERDICT


def test_the_whole_host_with_one_fault_is_found() -> None:
    done = 0
    for one in FAULTS:
        if one.board != BOARD or not one.evidence or "file" not in one.evidence[0]:
            continue
        text, at = str(one.evidence[0]["file"]), one.subject[5:6]
        if not one.check.startswith(("roce.qos.ecn", "roce.cm", "roce.netdev")) or "text" not in one.evidence[0]:
            continue
        if "roce_mtu" in one.expect:
            continue  # All alike, and large enough: that the site has another is known to the site alone.
        swap = (f"mlx5_{at}/", "mlx5_{}/"), (f"/eth{at}/", "/eth{}/")
        for old, new in swap:
            text = text.replace(old, new)
        spread = tuple({"file": text.format(n), "text": one.evidence[0]["text"]} for n in range(8))
        checks = judged(replace(one, evidence=spread))
        found = {check.subject for check in checks if check.id == one.check and check.result == "fail"}
        assert len(found) == 8, one.name
        assert verdict(checks) in (NOT_READY, "degraded")
        done += 1
    assert done >= 4
