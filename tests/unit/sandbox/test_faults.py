# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults as data, and what is refused before anything breaks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.config import NODES, RAILS
from sandbox.errors import SandboxError
from sandbox.faults import Fault, choose, drop_rules, fill, load, suggest, tcp_rules

FAULTS = load()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
class TestEveryFault:
    def test_it_can_be_healed_by_the_same_means(self, fault: Fault) -> None:
        assert fault.actions
        broken_by = {next(iter(step)) for step in fault.actions}
        assert broken_by <= {next(iter(step)) for step in fault.heal}

    def test_it_says_what_finds_it(self, fault: Fault) -> None:
        assert fault.expect["checks"]
        assert fault.expect["subject"]
        assert not set(fault.expect["checks"]) & set(fault.expect["consequences"])
        assert set(fault.expect.get("also", [])) <= set(NODES) - {fault.default_node}

    def test_it_names_a_node_exactly_when_it_strikes_one(self, fault: Fault) -> None:
        assert (fault.default_node in NODES) is fault.needs_node
        assert ("NODE" in fault.title) is fault.needs_node

    def test_its_steps_have_nothing_left_to_fill_in(self, fault: Fault) -> None:
        steps = [fill(step, "node3") for step in (*fault.actions, *fault.heal)]
        assert not re.search(r"\{\w+\}", str(steps))
        assert all(hca in RAILS for step in steps for hca in step.get("hca", {}))


def test_the_other_guid_is_that_of_the_next_node_in_sysfs_form() -> None:
    assert fill("{node} {other_guid}", "node3") == "node3 0200:0000:0001:0000"


@pytest.mark.parametrize(
    ("name", "node", "reason"),
    [
        pytest.param("cabel", None, "did you mean cable?", id="a slip of the finger"),
        pytest.param("quench", None, "known are cable, degraded", id="nothing like it"),
        pytest.param("cable", "node7", "did you mean node", id="no such node"),
        pytest.param("sm-dead", "node1", "whole fabric", id="a node where none is meant"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_one(name: str, node: str | None, reason: str) -> None:
    with pytest.raises(SandboxError) as refused:
        choose(FAULTS, name, node)
    assert reason in str(refused.value)


def test_without_a_node_the_fault_s_own_is_struck() -> None:
    assert choose(FAULTS, "cable", None)[1] == FAULTS["cable"].default_node
    assert choose(FAULTS, "cable", "node3")[1] == "node3"
    assert choose(FAULTS, "sm-dead", None)[1] is None


def test_suggestions_fall_back_to_the_whole_list() -> None:
    assert suggest("x", ["cable", "lossy"]) == "known are cable, lossy"


def test_packets_are_dropped_on_one_rail_and_never_to_the_control_port() -> None:
    rules = drop_rules(1, 50)
    assert "meta skgid 60001 udp dport 7071-7080 numgen random mod 100 < 50 drop" in rules
    assert "7070" not in rules


def test_healing_a_lossy_rail_leaves_no_table_whether_there_was_one_or_not() -> None:
    assert drop_rules(1, 0).splitlines() == ["table inet ibready_sandbox", "delete table inet ibready_sandbox"]


@pytest.mark.parametrize(("new", "verdict"), [("drop", "drop"), ("reject", "reject with tcp")])
def test_a_firewall_meets_new_connections_only(new: str, verdict: str) -> None:
    rules = tcp_rules("32768-60999", new)
    # Answers to what the node asks arrive at these ports, too.
    assert f"tcp flags & (syn | ack) == syn tcp dport 32768-60999 {verdict}" in rules
    assert "hook input" in rules


def test_opening_ports_leaves_other_closed_ones_alone() -> None:
    assert tcp_rules("29500", "accept").splitlines() == [
        "table inet ibready_tcp_29500",
        "delete table inet ibready_tcp_29500",
    ]
    assert "ibready_tcp_29500" not in tcp_rules("32768-60999", "drop")


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("{name: x, title: t}", id="without actions"),
        pytest.param(
            "{name: x, title: t, needs_node: false, actions: [{explode: 1}], heal: [], expect: {}}",
            id="with an unknown step",
        ),
    ],
)
def test_an_entry_that_is_no_fault_is_named(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "faults.yml"
    file.write_text(f"faults:\n  - {entry}\n")
    with pytest.raises(SandboxError, match=r"faults\.yml: x: "):
        load(file)
