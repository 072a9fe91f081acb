# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric's checks on outputs that were really recorded: what was broken is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import area, observe as fabric
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL

RECORDINGS = Path(__file__).parents[2] / "recordings"
# ibsim's ports could all be 12X, and nobody sells such cables.
ALWAYS = "fabric.link.width"
FINDINGS = {
    ("iblinkinfo", "healthy"): set(),
    ("iblinkinfo", "cable"): set(),  # an empty switch port is no fault by itself
    ("iblinkinfo", "no-manager"): {"fabric.link.state"},
    ("iblinkinfo", "no-device"): {"fabric.tool.answered"},
    ("ibnetdiscover", "healthy"): set(),
    ("ibnetdiscover", "no-device"): {"fabric.tool.answered"},
    ("ibhosts", "healthy"): set(),
    ("ibhosts", "no-device"): {"fabric.tool.answered"},
    ("ibqueryerrors", "healthy"): set(),
    ("ibqueryerrors", "counters"): {
        "fabric.link.symbol_errors",
        "fabric.link.drops",
    },
    ("ibqueryerrors", "no-manager"): {"fabric.tool.answered"},
    ("ibqueryerrors", "no-device"): {"fabric.tool.answered"},
    ("sminfo", "healthy"): set(),
    ("sminfo", "no-manager"): {"fabric.sm.master"},
    ("sminfo", "cable"): {"fabric.tool.answered"},  # through the port that is cut off
    ("ibping", "healthy"): set(),
    ("ibping", "cable"): {"fabric.ping.recorded"},
    ("ibping", "lossy"): {"fabric.ping.recorded"},
    ("ibping", "no-device"): {"fabric.tool.answered"},
}


class One:
    """A bundle with one command's recording."""

    recorded = True

    def __init__(self, name: str, sidecar: Path) -> None:
        case = json.loads(sidecar.read_text())
        self.name = name
        self.output = Output(case["rc"], sidecar.with_suffix(".txt").read_text(), case["stderr"])

    def run(self, name: str, *args: str) -> Output:
        if name != self.name:
            raise Unavailable(name, "not in the bundle")
        return self.output


@pytest.mark.parametrize(("tool", "scenario"), FINDINGS)
def test_what_was_broken_is_found(tool: str, scenario: str) -> None:
    sidecars = sorted((RECORDINGS / tool).glob(f"*-{scenario}.json"))
    assert sidecars
    for sidecar in sidecars:
        facts = fabric.observe(One(tool, sidecar), Machine())  # type: ignore[arg-type]
        checks = area.judge(facts, Machine(), Expectations())
        found = {one.id for one in checks if one.result == FAIL} - {ALWAYS}
        assert found == FINDINGS[tool, scenario], sidecar.stem


def test_a_lane_that_died_is_found_beside_what_ibsim_always_says() -> None:
    sidecar = next((RECORDINGS / "iblinkinfo").glob("*-degraded.json"))
    facts = fabric.observe(One("iblinkinfo", sidecar), Machine())  # type: ignore[arg-type]
    checks = area.judge(facts, Machine(), Expectations())
    assert [one.subject for one in checks if one.id == ALWAYS and one.observed == "1X"] == ["node3 ibsim1/1"]
