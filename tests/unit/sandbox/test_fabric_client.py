# SPDX-License-Identifier: GPL-3.0-or-later
"""When a fabric counts as healthy."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.config import NODES, RAILS
from sandbox.fabric_client import wrong

MASTER = "sminfo: sm lid 1 sm guid 0x1, activity count 4 priority 0 state 3 SMINFO_MASTER"


def status(**change: Any) -> dict[str, Any]:
    port = {"state": "Active", "physical": "LinkUp", "gbps": 400.0, "lid": 3}
    ports = {f"{node}/{hca}": dict(port) for node in NODES for hca in RAILS}
    ports["node2/ibsim1"].update(change)
    return {"ports": ports, "sm": MASTER, "overrides": {}}


def test_six_active_ports_and_a_master_are_healthy() -> None:
    assert wrong(status()) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(status(state="Down"), "node2/ibsim1 is Down", id="a port is down"),
        pytest.param(status(lid=0), "node2/ibsim1 is Active", id="a port has no LID yet"),
        pytest.param(status(gbps=100.0), "runs at 100 Gb/s", id="a link is slow"),
        pytest.param({**status(), "sm": ""}, "no SM answers", id="the SM is silent"),
        pytest.param({**status(), "ports": {}}, "node1/ibsim0 is missing", id="no ports yet"),
        pytest.param(
            {**status(), "overrides": {"H-node1-0": {"fw_ver": "1"}}}, "H-node1-0 shows other files", id="an HCA lies"
        ),
    ],
)
def test_everything_else_is_said(given: dict[str, Any], said: str) -> None:
    assert said in "; ".join(wrong(given))


def test_an_sm_that_was_not_asked_is_not_held_against_the_fabric() -> None:
    assert wrong({**status(), "sm": None}) == []
