# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric's checks pass on no board, for no board is asked for its fabric: here one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import PASS, SKIP, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import damage, render
from tests.gauntlet.tree import Tree


@cache
def recorded() -> Tree:
    node = render.node("hgx-h100-8")
    node.more = {**node.more, "whole_fabric": True}
    return render.render(node)


def judge(source: Evidence) -> list[Check]:
    return _verify.verify(source, Expectations(), ["fabric"]).checks


def ids() -> list[str]:
    return sorted({one.id for one in judge(recorded())})


def walk() -> Iterator[Any]:
    for check_id in ids():
        for item in CATALOG[check_id].looks_at:
            for kind in damage.KINDS:
                yield pytest.param(check_id, item, kind, id=f"{check_id}: {kind}")


def test_a_recorded_fabric_passes_every_check() -> None:
    assert {one.result for one in judge(recorded())} == {PASS}
    assert len(ids()) == 15


@pytest.mark.parametrize(("check_id", "item", "kind"), list(walk()))
def test_no_check_passes_without_having_looked(check_id: str, item: str, kind: str) -> None:
    source = damage.Damaged(recorded(), item, kind)
    mine = [one for one in judge(source) if one.id == check_id]
    assert source.hits
    assert mine
    assert not [one for one in mine if one.result == SKIP]
    passed = {one.subject for one in mine if one.result == PASS}
    if kind == damage.CUT:
        # Half of ibhosts' lines is a list as good as any.
        assert passed < {one.subject for one in judge(recorded()) if one.id == check_id}
    else:
        assert not passed


@pytest.mark.parametrize(("name", "rest"), [("ibnetdiscover", 0), ("ibqueryerrors", 1)])
def test_an_output_that_ends_at_any_line_passes_nothing(name: str, rest: int) -> None:
    # All but the last ``rest`` lines, which say nothing of the fabric, must be there.
    output = recorded().commands[name]
    mine = {check_id for check_id in ids() if CATALOG[check_id].looks_at == (name,)}
    lines = output.stdout.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if "0x" in line)
    for end in range(first + 1, len(lines) - rest):
        tree = replace(recorded(), commands=dict(recorded().commands))
        tree.recorded = True
        tree.command(name, "".join(lines[:end]))
        passed = {one.id for one in judge(tree) if one.id in mine and one.result == PASS}
        assert not passed, f"only {end} of {len(lines)} lines"
