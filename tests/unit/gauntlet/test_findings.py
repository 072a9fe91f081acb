# SPDX-License-Identifier: GPL-3.0-or-later
"""A run tells the same of what nodes answer with findings as of all that they could answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief, verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import shown
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import diagnosis
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import build, changed
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text, rendered
from tests import cases
from tests.gauntlet import fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree
from tests.unit import fleets

pytestmark = pytest.mark.thorough

# What a host tells differs by what its checks found.
FAULTS = cases.first(fault.load(), cases.area)
HEALTHY = [fault.Fault("", board, "", "", "") for board in sorted(render.boards())]
# A page is drawn of what the run holds, whichever fault it was: of every area's first it is drawn twice and compared.
DRAWN = [*HEALTHY, *{one.area: one for one in reversed(FAULTS)}.values()]
CLOCK = {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19}


def answered(name: str, node: Node, tree: Tree) -> dict[str, Any]:
    judged = _verify.verify(tree, from_inventory(node.expect))
    reported = {**verdict_object(name, judged.checks, judged.facts), "clock": CLOCK}
    seen = {
        "ibready_node": {"node": {**contact.collect(tree), "hostname": name, "root": True}},
        "ibready_ibverify": json.loads(json.dumps(reported)),
        "ibready_expect": node.expect,
    }
    return seen


@cache
def equals(board: str) -> Mapping[str, dict[str, Any]]:
    described = {name: fleets.described(board, int(name[4:])) for name in fleets.EQUALS}
    return {name: answered(name, node, render.render(node)) for name, node in described.items()}


def findings(seen: Mapping[str, Any]) -> dict[str, Any]:
    """The same from a visit that is its own contact."""
    reported = seen["ibready_ibverify"]
    reported = {**reported, "facts": {**reported["facts"], **seen["ibready_node"]}}
    told = {name: entry for name, entry in seen.items() if name != "ibready_node"}
    return {**told, "ibready_ibverify": json.loads(json.dumps(brief.brief(reported)))}


def told(known: Mapping[str, Any]) -> dict[str, Any]:
    hosts = _hosts.gather(known, list(known))
    report = cluster.report(hosts, size=len(known), created=fleets.NOW, version="0.1.0", compare=True)
    run = build.Run(playbooks=[], size=len(known), fail_on="not_ready")
    return build.complete(report, hosts, run, plan=None, listened=changed.Reported(), ansible="2.19")


def judged(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "checks": {name: (host["verdict"], host["checks"]) for name, host in run["hosts"].items()},
        "text": render_text.render(run),
        "diagnosis": diagnosis.diagnose(run).to_dict(),
    }


def everything(run: Mapping[str, Any]) -> dict[str, Any]:
    return {**judged(run), **rendered.render(run, rendered.FORMATS)}


@pytest.mark.parametrize("one", [*HEALTHY, *FAULTS], ids=lambda one: f"{one.area}: {one.name or one.board}")
def test_findings_tell_what_the_whole_answer_tells(one: fault.Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {**equals(one.board), fleets.ODD: answered(fleets.ODD, *fleets.broken(one))}
    look = everything if one in DRAWN else judged
    short = look(told({name: findings(seen) for name, seen in whole.items()}))
    monkeypatch.setattr(shown, "_KEPT", {})
    monkeypatch.setattr(shown, "_JUDGED", {})
    assert look(told(whole)) == short


def test_a_fact_that_is_read_and_stays_away_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {**equals(fleets.BOARD), fleets.ODD: answered(fleets.ODD, fleets.described(fleets.BOARD, 7), Tree())}
    short = everything(told({name: findings(seen) for name, seen in whole.items()}))
    monkeypatch.setattr(brief, "STAYS", {**brief.STAYS, "machine": ("gpus",)})
    assert everything(told({name: findings(seen) for name, seen in whole.items()})) != short


def test_an_answer_is_a_tenth_of_what_it_was() -> None:
    (seen, *_) = equals(fleets.BOARD).values()
    assert 8 * len(json.dumps(findings(seen)["ibready_ibverify"])) < len(json.dumps(seen["ibready_ibverify"]))
