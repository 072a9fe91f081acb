# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever our own code raises of one host: the others keep what they have, and it is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from ansible.errors import AnsibleError

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import consistency, hosts as _hosts, summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text, rendered
from tests.unit import fleets, mutations, runs
from tests.unit.mutations import NAMES, ODD


def report() -> dict[str, Any]:
    known = mutations.fleet()
    return cluster.report(
        _hosts.gather(known, NAMES),
        size=3,
        created=fleets.NOW,
        version="0.1.0",
        plan=_hosts.ping_plan(known, NAMES),
        moves=_hosts.rdma_plan(known, NAMES),
    )


def unknowns(found: dict[str, Any], name: str) -> dict[str, str]:
    checks = found["hosts"][name]["checks"]
    return {one["id"]: one["cause"] for one in checks if one["result"] == "unknown"}


def breaking(monkeypatch: pytest.MonkeyPatch, when: Callable[[Sequence[_hosts.Host]], bool]) -> None:
    """Have the comparison of equal hosts raise over such hosts."""
    sound = consistency.judge

    def judge(hosts: Sequence[_hosts.Host], *more: Any) -> Any:
        if when([one for one in hosts if not one.absent]):
            raise IndexError("no fifth\nGPU \x1b[31m")
        return sound(hosts, *more)

    monkeypatch.setattr(consistency, "judge", judge)


def test_a_host_with_which_a_stage_raises_is_unknown_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    breaking(monkeypatch, lambda hosts: any(one.name == ODD for one in hosts))
    found = report()
    verdicts = {name: one["verdict"] for name, one in found["hosts"].items()}
    assert verdicts == {"n1": "ready", ODD: "unknown", "n3": "ready"}
    reported = unknowns(found, ODD)["host.access.reachable"]
    assert r"what it answered cannot be used: IndexError no fifth\nGPU \x1b[31m in judge" in reported
    assert f"{ODD} is unknown: host.access.reachable" in summary.bad(found)[ODD]
    assert "see what answers there" in render_text.render(found)


def test_a_stage_that_raises_over_several_hosts_alone_is_no_silent_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    breaking(monkeypatch, lambda hosts: len(hosts) > 1)
    found = report()
    assert {one["verdict"] for one in found["hosts"].values()} == {"unknown"}
    reported = unknowns(found, ODD)["host.access.reachable"]
    assert "what the hosts answered, held against each other, cannot be used: IndexError" in reported


@pytest.mark.parametrize("error", [AnsibleError, ExpectationError, WaiverError])
def test_the_operator_s_own_word_stops_the_run(error: type[Exception]) -> None:
    def raising(_: Any) -> Any:
        raise error("ibready_waivers: waiver 1: host is missing")

    with pytest.raises(error):
        apart.each(["n1"], raising)
    with pytest.raises(error):
        apart.together(["n1"], raising, lambda host, why: host)


def test_a_waiver_that_is_none_is_the_inventory_s_and_stops_the_run() -> None:
    known = {"n1": {**mutations.fleet()["n1"], "ibready_waivers": [{"check": "x"}]}}
    with pytest.raises(WaiverError):
        _hosts.gather(known, ["n1"])


def test_each_host_of_an_honest_fleet_can_be_judged_alone() -> None:
    """By that those are found with which it cannot: none may be blamed for another's absence."""
    known = mutations.fleet()
    for host in _hosts.gather(known, NAMES):
        cluster._report(
            [host],
            3,
            fleets.NOW,
            "0.1.0",
            True,
            _hosts.ping_plan(known, NAMES),
            None,
            _hosts.rdma_plan(known, NAMES),
            None,
        )


def test_a_format_that_facts_break_is_rendered_without_them() -> None:
    def render(run: Any) -> str:
        return ", ".join(str(one["facts"]["gpu"][9]) for one in run["hosts"].values() if one["facts"]["node"])

    said: list[str] = []
    run = runs.run({"n1": runs.judged(node={"kernel": "6.8"}, gpu=[])})
    assert rendered.surely(render, run, said.append) == ""
    assert len(said) == 1
    assert "made without the facts of any host" in said[0]
    assert "IndexError" in said[0]
