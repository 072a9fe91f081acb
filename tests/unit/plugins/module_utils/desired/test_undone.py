# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify, drift and converge agree on what undoes ours: each fault of effective state is planted, all three asked."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._desired import compare
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, sentence
from ansible_collections.ibready.cluster.plugins.module_utils._verify import effect, verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import drift, runs
from tests import cases
from tests.gauntlet import fault, render, run
from tests.gauntlet.tree import Tree

PLANTED = [one for one in fault.load() if one.check in effect.IDS]
DAY = datetime.date.today() + datetime.timedelta(days=2)


def asked(tree: Tree, monkeypatch: pytest.MonkeyPatch, **want: Any) -> list[dict[str, Any]]:
    """What a comparison tells of a host with this evidence."""
    monkeypatch.setattr(effect, "Live", lambda **_options: tree)
    item = {"role": compare.VERIFY, "task": "See", "kind": compare.EFFECT, "want": {"host": "n1", **want}}
    return compare.compare([item])


def test_each_of_these_checks_is_planted() -> None:
    assert {one.check for one in PLANTED} == set(effect.IDS)
    assert set(effect.IDS) <= set(CATALOG)


@pytest.mark.parametrize("one", cases.some(PLANTED, lambda one: one.check), ids=lambda one: one.name)
def test_all_three_tell_of_what_undoes_ours(one: fault.Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    verified = [check for check in run.judged(one) if check.id in effect.IDS]
    node, tree = fault.broken(one)

    differs = asked(tree, monkeypatch, expect=node.expect)

    assert {entry["why"] for entry in differs} == {
        sentence(check) for check in verified if check.result in (FAIL, UNKNOWN)
    }
    assert one.check in {check.id for check in verified if check.result == FAIL}
    assert one.cause in drift.told({"n1": differs}, {})
    done = runs.judged([runs.Role("host_tuning")], [], differs)
    assert (done["run"], done["differs"]) == ([compare.VERIFY], differs)


@pytest.mark.parametrize("board", cases.some(sorted(render.boards()), lambda _board: "board"))
def test_on_a_healthy_host_nothing_differs(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    node = render.node(board)
    assert asked(render.render(node), monkeypatch, expect=node.expect) == []


def test_a_comparison_asks_a_fifth_of_a_verifys_programs_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit of a converge pays for it."""
    asked: set[str] = set()
    run_as_it_is = Tree.run

    def noted(self: Tree, name: str, *args: str) -> Output:
        asked.add(name)
        return run_as_it_is(self, name, *args)

    monkeypatch.setattr(Tree, "run", noted)
    node = render.node("hgx-h100-8")
    expect = from_inventory(node.expect)
    assert effect.checks(render.render(node), expect)
    few = len(asked)
    verify.verify(render.render(node), expect)
    assert 0 < 5 * few <= len(asked)


def test_what_is_waived_is_no_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(one for one in PLANTED if one.check == "host.boot.sysctl")
    node, tree = fault.broken(one)
    waiver = {"check": one.check, "host": "n1", "until": DAY.isoformat(), "reason": "meant"}
    assert asked(tree, monkeypatch, expect=node.expect, waivers=[waiver]) == []
    assert asked(tree, monkeypatch, expect=node.expect, waivers=[{**waiver, "host": "n2"}]) != []


def test_what_nobody_can_ask_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    told = asked(Tree(), monkeypatch, expect={"no_such": 1})
    assert [entry["state"] for entry in told] == [compare.UNKNOWN]
    assert "no_such" in told[0]["why"]
