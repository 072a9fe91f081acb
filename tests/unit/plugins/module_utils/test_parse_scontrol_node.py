# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample is what Slurm 24.11.5 of Debian 13 printed in the sandbox."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import scontrol_node
from tests.unit.parsers import SAMPLES

DRAINED = (SAMPLES / "scontrol_node.txt").read_text()


def with_state(state: str) -> str:
    return DRAINED.replace("State=IDLE+DRAIN", f"State={state}")


def test_a_drained_node_with_a_reason_full_of_signs() -> None:
    node = scontrol_node.parse(DRAINED)
    assert node.name == "node2"
    assert node.states == ("IDLE", "DRAIN")
    assert node.reason == "two words = [x] here"
    assert node.stamp == "root@2026-11-22T03:38:13"
    assert node.any_of("DOWN", "DRAIN")
    assert not node.any_of("DOWN")
    assert node.responds


def test_a_node_without_a_reason() -> None:
    text = "".join(line for line in DRAINED.splitlines(keepends=True) if "Reason" not in line)
    node = scontrol_node.parse(text.replace("IDLE+DRAIN", "IDLE"))
    assert (node.states, node.reason, node.stamp) == (("IDLE",), "", "")


@pytest.mark.parametrize(
    ("said", "states"),
    [
        ("IDLE", ("IDLE",)),
        ("DOWN*+DRAIN", ("DOWN", "NOT_RESPONDING", "DRAIN")),  # to 20.11
        ("IDLE+NOT_RESPONDING", ("IDLE", "NOT_RESPONDING")),
        ("MIXED+DRAIN+RESERVED", ("MIXED", "DRAIN", "RESERVED")),
        ("ALLOCATED#", ("ALLOCATED",)),
        ("IDLE+CLOUD+POWERED_DOWN", ("IDLE", "CLOUD", "POWERED_DOWN")),
    ],
)
def test_states_are_told_apart_from_their_marks(said: str, states: tuple[str, ...]) -> None:
    assert scontrol_node.parse(with_state(said)).states == states


def test_a_reason_of_two_lines_is_the_first_with_its_stamp() -> None:
    two = DRAINED.replace(
        "Reason=two words = [x] here [root@2026-11-22T03:38:13]",
        "Reason=line [root@2026-11-22T03:38:13]\n          two",
    )
    node = scontrol_node.parse(two)
    assert (node.reason, node.stamp) == ("line", "root@2026-11-22T03:38:13")


@pytest.mark.parametrize("said", ["a reason [", "a [b@c] d", "a [x@]", ""])
def test_what_is_no_stamp_stays_in_the_reason(said: str) -> None:
    text = DRAINED.replace("two words = [x] here [root@2026-11-22T03:38:13]", said)
    node = scontrol_node.parse(text)
    assert (node.reason, node.stamp) == (said, "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no NodeName"),
        ("Node nosuch not found\n", "no NodeName"),
        ("slurm_load_node error: Unable to contact slurm controller\n", "no NodeName"),
        ("NodeName=node2\n", "without a State"),
        (with_state("idle"), "'idle' is no state"),
        (DRAINED + DRAINED, "a second node"),
    ],
)
def test_what_tells_of_no_node_is_an_error(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        scontrol_node.parse(text)
