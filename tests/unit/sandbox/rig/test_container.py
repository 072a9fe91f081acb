# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders to the rig's container, and what becomes of its answers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.rig import shapes
from sandbox.rig.container import Answer, Rig, Stuck

# Answers every order with the next of the given lines, then ends; prints what it was told.
_CONTAINER = """
import json, sys
for answer in json.loads(sys.argv[1]):
    order = json.loads(sys.stdin.readline())
    print(order["do"], file=sys.stderr, flush=True)
    print(json.dumps(answer), flush=True)
"""
Start = Callable[..., Rig]


@pytest.fixture
def start() -> Iterator[Start]:
    children: list[subprocess.Popen[bytes]] = []

    def started(*answers: dict[str, Any]) -> Rig:
        child = subprocess.Popen(
            [sys.executable, "-c", _CONTAINER, json.dumps(answers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        children.append(child)
        return Rig(child)

    yield started
    for child in children:
        child.communicate()


def told(stderr: str = "") -> dict[str, Any]:
    return {"rc": 0, "stdout": "CA 'ibsim0'", "stderr": stderr, "seconds": 0.1}


def test_a_program_s_output_is_the_answer(start: Start) -> None:
    with start({}, told(), {}).fabric(shapes.single_switch()) as fabric:
        assert fabric.run("H-node1-0", ["ibstat"]) == Answer(0, "CA 'ibsim0'", "", 0.1)


def test_an_order_that_fails_says_which_and_why(start: Start) -> None:
    rig = start({}, {"error": "no such node", "stuck": False}, {})
    with (
        rig.fabric(shapes.single_switch()) as fabric,
        pytest.raises(SandboxError, match=r"single-switch, console: no such node") as caught,
    ):
        fabric.do([{"do": "console", "line": 'Unlink "H-none"'}])
    assert not isinstance(caught.value, Stuck)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"error": "sminfo: no end in time", "stuck": True}, id="it did not end"),
        pytest.param(told("ibwarn: [7] _do_madrpc: recv failed: Connection timed out\n"), id="it lost a packet"),
    ],
)
def test_what_the_simulated_wire_lost_is_told_from_a_fault(start: Start, answer: dict[str, Any]) -> None:
    with start({}, answer, {}).fabric(shapes.single_switch()) as fabric, pytest.raises(Stuck):
        fabric.run("H-node1-0", ["sminfo"])


def test_a_subnet_manager_that_is_gone_is_a_fault_and_no_lost_packet(start: Start) -> None:
    said = "ibwarn: [224] mad_rpc: _do_madrpc failed; dport (Lid 1)\n"
    with start({}, told(said), {}).fabric(shapes.single_switch()) as fabric:
        assert fabric.run("H-node1-0", ["sminfo"]).stderr == said


def test_a_container_that_has_ended_is_told(start: Start) -> None:
    rig = start({})
    rig.ask({"do": "start"}, time.monotonic())
    with pytest.raises(SandboxError, match="has ended"):
        rig.ask({"do": "sweep"}, time.monotonic())
