# SPDX-License-Identifier: GPL-3.0-or-later
"""What was not seen, or only in part, never passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import PASS
from tests.unit.fabrics import found, judged, tree


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
    reported = judged(fabric, answers, plan=fabric.discovery(), standbys=0)
    results = {one["id"]: one["result"] for one in reported.fabrics[0]["checks"]}
    passed = {one for one, result in results.items() if result == PASS}
    assert not passed & set(NEEDS[name])
    assert reported.fabrics[0]["verdict"] != "ready"
    assert "fabric.hca.present" not in found(reported)
    assert "fabric.cabling.missing" not in found(reported)


def test_a_discovery_that_sees_only_itself_says_nothing_of_the_rest() -> None:
    fabric = tree()
    whole = fabric.cables
    fabric.cables = {}
    fabric.nodes = {"1c00": fabric.nodes["1c00"]}
    reported = judged(fabric)
    assert whole
    assert found(reported) == {"fabric.discovery.neighbours": ["node1 mlx5_0/1", "node2 mlx5_0/1"]}
    assert reported.fabrics[0]["verdict"] == "not_ready"
    assert "fabric.hca.present" in found(reported, "unknown")


def test_a_report_of_counters_that_asked_no_port_is_unknown() -> None:
    fabric = tree()
    answers = fabric.answers()
    for name in ("ibqueryerrors", "ibqueryerrors_again"):
        said = answers[name]["stdout"]
        answers[name]["stdout"] = said.replace("99 ports", "0 ports").replace("9 nodes", "0 nodes")
    reported = found(judged(fabric, answers), "unknown")
    assert {"fabric.cable.errors", "fabric.counters.saturated"} <= set(reported)


def test_a_counter_that_the_first_look_lost_did_not_rise_from_nothing() -> None:
    fabric = tree()
    end = next(iter(fabric.cables))
    fabric.counters[end] = ({"SymbolErrorCounter": 900}, {"SymbolErrorCounter": 900})
    answers = fabric.answers()
    assert found(judged(fabric, answers)) == {}
    text = answers["ibqueryerrors"]["stdout"]
    assert "SymbolErrorCounter == 900" in text
    answers["ibqueryerrors"]["stdout"] = text.replace("Counter == 900]", "Cou")
    assert "fabric.cable.errors" not in found(judged(fabric, answers))
    assert "fabric.cable.errors" in found(judged(fabric, answers), "unknown")
    # What stands in both looks may have risen for all that.
    fabric.counters[end] = ({"SymbolErrorCounter": 900}, {"SymbolErrorCounter": 9000})
    answers = fabric.answers()
    answers["ibqueryerrors"]["stdout"] = answers["ibqueryerrors"]["stdout"].replace("## Summary", "# Summary")
    assert "fabric.cable.errors" in found(judged(fabric, answers))
