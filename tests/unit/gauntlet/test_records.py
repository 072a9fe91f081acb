# SPDX-License-Identifier: GPL-3.0-or-later
"""Published records of failures: each class names checks that find it, or says why none does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import fault
from tools import records

CLASSES = [(record["record"], each) for record in records.load() for each in record["classes"]]
ROOT = Path(__file__).parents[3]
# What no single host's evidence shows; the tests that plant it.
ELSEWHERE = {"host.access.reachable": "tests/unit/plugins/plugin_utils/test_cluster.py"}


@pytest.mark.parametrize(("record", "each"), [pytest.param(*one, id=f"{one[0]}: {one[1]['class']}") for one in CLASSES])
def test_a_class_is_found_by_checks_with_a_fault_or_says_why_not(record: str, each: dict[str, Any]) -> None:
    assert ("by" in each) != ("none" in each), record
    planted = {one.check for one in fault.load()}
    for check in each.get("by", ()):
        assert check in CATALOG
        assert check in planted or check in (ROOT / ELSEWHERE[check]).read_text()
    assert each.get("none", "a reason") not in ("", "none")


def test_the_trace_is_told_whole() -> None:
    trace = next(record for record in records.load() if record["record"] == "InfiniteHBD-Trace")
    # Its own totals: 24 of software, 298 of hardware, 262 others.
    assert sum(each["count"] for each in trace["classes"]) == 24 + 298 + 262
