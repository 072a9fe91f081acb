# SPDX-License-Identifier: GPL-3.0-or-later
"""Walk the catalog: no check passes without having looked at what it says it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import WIDE
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import INCAST, RDMA, SWITCH
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    FAIL,
    PASS,
    READY,
    SKIP,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests import cases
from tests.gauntlet import damage, fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

# Judged on the controller from what several hosts told; tests/unit/plugins has their own tests.
CONTROLLER = {
    "host.access.reachable",
    "host.converge.complete",
    "fabric.ping.tested",
    "fabric.ping.reachable",
    "fabric.ping.loss",
    "fabric.tcp.rendezvous",
    "fabric.tcp.range",
    *(one.id for one in WIDE),
    # Told by the controller: the node has neither lock nor matrix.
    "stack.lock.matrix",
    *(name for name in CATALOG if name.startswith("fleet.")),
    *(name for name in CATALOG if ".bench." in name),
    # Of what a job left: no node has it.
    "nccl.job.bound",
    *(one.id for one in RDMA),
    *(one.id for one in SWITCH),
    *(one.id for one in INCAST),
}
NODE = sorted(set(CATALOG) - CONTROLLER)


@cache
def healthy(board: str) -> tuple[Node, Tree, tuple[Check, ...]]:
    node = render.node(board)
    tree = render.render(node)
    return node, tree, tuple(_verify.verify(tree, from_inventory(node.expect)).checks)


@cache
def boards_where(check_id: str, result: str) -> list[str]:
    return [
        board
        for board in render.boards()
        if any(one.id == check_id and one.result == result for one in healthy(board)[2])
    ]


def walk() -> Iterator[Any]:
    cases = [(name, item, kind) for name in NODE for item in CATALOG[name].looks_at for kind in damage.kinds_of(item)]
    # Checks that look at the same thing follow each other, and are answered by one look.
    for name, item, kind in sorted(cases, key=lambda case: (area_of(case[0]), *case[1:], case[0])):
        yield pytest.param(name, item, kind, id=f"{name}: {item}: {kind}")


def area_of(check_id: str) -> str:
    return "ib" if check_id == "fabric.sm.answers" else check_id.split(".", 1)[0]


@pytest.mark.parametrize("check_id", NODE)
def test_every_check_says_what_it_looks_at(check_id: str) -> None:
    assert CATALOG[check_id].looks_at


@pytest.mark.parametrize("check_id", NODE)
def test_every_check_passes_somewhere_or_is_told_to_fail(check_id: str) -> None:
    # A check that no healthy board passes and no fault fails would be an empty promise.
    assert boards_where(check_id, PASS) or any(one.check == check_id for one in fault.load())


@pytest.mark.parametrize(("check_id", "item", "kind"), list(walk()))
def test_no_check_passes_without_having_looked(check_id: str, item: str, kind: str) -> None:
    looked = False
    for board in boards_where(check_id, PASS)[:3]:
        before = healthy(board)[2]
        hits, after = damaged(board, item, kind, area_of(check_id))
        if not hits:
            continue  # this board has no such source: another alternative was looked at
        looked = True
        passed = {one.subject for one in after if one.id == check_id and one.result == PASS}
        if kind == damage.CUT:
            whole = {one.subject for one in before if one.id == check_id and one.result == PASS}
            assert passed < whole, f"{board}: nobody noticed that half of the output is missing"
        else:
            assert not passed, f"{board}: passed without it: {sorted(passed)}"
        if kind != damage.CUT and kind != damage.ABSENT:
            assert verdict(after) != READY, f"{board}: ready, though nobody could look"
            skipped = [one for one in after if one.id == check_id and one.result == SKIP]
            was = {one.subject for one in before if one.id == check_id and one.result == SKIP}
            assert all(one.subject in was for one in skipped), f"{board}: {skipped[0].cause}"
        if not cases.ALL:
            break  # One board shows it; by night three have to.
    if boards_where(check_id, PASS):
        assert looked, f"no board's {check_id} ever looked at {item}: correct looks_at"


@lru_cache(maxsize=16)
def damaged(board: str, item: str, kind: str, area: str) -> tuple[int, list[Check]]:
    """How often the item was asked for, and what an area says without it."""
    node, tree, _ = healthy(board)
    source = damage.Damaged(tree, item, kind)
    checks = _verify.verify(source, from_inventory(node.expect), [area]).checks
    return source.hits, checks


def test_a_host_of_which_nothing_can_be_told_passes_nothing() -> None:
    nothing = Nothing()
    checks = _verify.verify(nothing, from_inventory({})).checks
    assert [one for one in checks if one.result in (PASS, FAIL)] == []
    assert verdict(checks) == "unknown"


class Nothing(Tree):
    """A host that refuses every question."""

    def _refuse(self, *names: str) -> None:
        self.broken = {name: "permission denied" for name in names}
        super()._refuse(*names)
