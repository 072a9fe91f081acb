# SPDX-License-Identifier: GPL-3.0-or-later
"""On which verdicts of a fabric a run of ready hosts ends badly."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import summary
from tests.unit import runs

GOOD = {"n1": runs.judged(runs.check()), "n2": runs.judged(runs.check())}
WARM = runs.fabric(runs.check("fail", severity="warning"))


@pytest.mark.parametrize(
    ("fabric", "fail_on", "bad"),
    [
        (runs.fabric(error="no umad"), "not_ready", {"n1"}),
        (runs.fabric(error="no umad"), "degraded", {"n1"}),
        (runs.fabric(error="no umad"), "never", set()),
        (runs.fabric(runs.check("unknown")), "not_ready", {"n1"}),
        (runs.fabric(runs.check("fail")), "not_ready", {"n1"}),
        (runs.fabric(runs.check("fail")), "never", set()),
        (WARM, "not_ready", set()),
        (WARM, "degraded", {"n1"}),
        (runs.fabric(runs.check()), "degraded", set()),
        (runs.fabric(), "degraded", set()),
    ],
)
def test_a_fabric_ends_a_run_as_a_host_does(fabric: dict[str, Any], fail_on: str, bad: set[str]) -> None:
    run = runs.run(GOOD, fabric=fabric)
    assert set(summary.bad(run, summary.ACCEPTED[fail_on])) == bad


def test_why_it_could_not_be_asked_is_said_beside_what_is_wrong_with_the_host() -> None:
    run = runs.run({"n1": runs.judged(runs.check("fail"))}, fabric=runs.fabric(error="no umad"))
    said = summary.bad(run)["n1"]
    assert said.startswith("n1 is not_ready: ib.port.state")
    assert said.endswith("And the fabric was not judged: no umad. " + summary.ABOVE)
