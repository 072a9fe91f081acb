# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own recordings of the real tools: what the parsers find, and what the simulator knew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names

RECORDINGS = Path(__file__).parents[2] / "recordings"
SIDECARS = sorted(RECORDINGS.glob("*/*.json"))
ABSENT = "absent"


def text_of(sidecar: Path, case: dict[str, Any]) -> str:
    # Complaints go to standard error; a bundle holds both.
    stdout = sidecar.with_suffix(".txt").read_text()
    return stdout if stdout.strip() else str(case["stderr"])


def at(facts: Any, path: str) -> Any:
    """The value at a dotted path; numbers are places in a list."""
    for part in path.split("."):
        if isinstance(facts, list):
            facts = facts[int(part)] if int(part) < len(facts) else ABSENT
        elif isinstance(facts, dict):
            facts = facts.get(part, ABSENT)
        else:
            return ABSENT
    return facts


@pytest.mark.parametrize("sidecar", SIDECARS, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_the_parser_finds_what_the_simulator_knew(sidecar: Path) -> None:
    case = json.loads(sidecar.read_text())
    facts, error = names.facts(sidecar.parent.name, text_of(sidecar, case))
    assert {path: at(facts, path) for path, _ in case["expected"]} == dict(case["expected"])
    told_why = error is not None or bool(facts.get("error") or facts.get("error_lines"))
    if case["facts"] is not None:
        assert told_why is not case["facts"], facts


def test_there_are_recordings_of_every_scenario() -> None:
    scenarios = {json.loads(path.read_text())["scenario"] for path in SIDECARS}
    assert len(SIDECARS) >= 50
    assert {"healthy", "cable", "degraded", "no-manager", "counters", "no-device"} <= scenarios
    assert {path.parent.name for path in SIDECARS} <= set(names.NAMES)


def test_every_text_has_a_sidecar() -> None:
    assert {path.with_suffix(".json") for path in RECORDINGS.glob("*/*.txt")} == set(SIDECARS)


def test_nothing_of_the_recording_machine_got_in() -> None:
    text = "".join(path.read_text() for path in RECORDINGS.glob("*/*.*"))
    assert not re.search(r"/(?:home|root|work|tmp|Users)/", text)
    # Only the sandbox's own names and documentation addresses.
    assert not re.findall(r"(?<![\d.])(?!198\.1[89]\.)\d{1,3}(?:\.\d{1,3}){3}(?![\d.])", text)
