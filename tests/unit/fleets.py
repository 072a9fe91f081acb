# SPDX-License-Identifier: GPL-3.0-or-later
"""Small fleets of the gauntlet's simulated nodes: equal, but for a fault on one of them.

Nothing here was recorded on real hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.look import Judged
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from tests.gauntlet import fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
BOARD = "hgx-h100-8"
# The node that the fault is on, and its equals.
ODD = "node7"
EQUALS = ("node1", "node2")


def described(board: str, number: int) -> Node:
    """A healthy node of a fleet: GUIDs, LIDs and addresses are its own."""
    node = render.node(board)
    # A fault may name an address of the first host: that is ODD's.
    node.more = {**node.more, "number": (number - 7) % 256 + 1}
    for hca in node.hcas:
        hca.guid += 0x100 * number
        if 0 < hca.lid < 0xBFFF:
            hca.lid += 100 * number
    return node


def bent(
    board: str,
    number: int,
    *,
    node: Iterable[Mapping[str, Any]] = (),
    evidence: Iterable[Mapping[str, Any]] = (),
    expect: Mapping[str, Any] | None = None,
) -> tuple[Node, Tree]:
    """A node with changes as in tests/gauntlet/faults, and its evidence."""
    mine = described(board, number)
    mine.expect = {**mine.expect, **(expect or {})}
    for change in node:
        fault._change_node(mine, dict(change))
    tree = render.render(mine)
    for change in evidence:
        fault._change_evidence(tree, dict(change))
    return mine, tree


def broken(one: fault.Fault, number: int = 7) -> tuple[Node, Tree]:
    """A node of a fleet with a fault of the gauntlet's."""
    return bent(one.board, number, node=one.node, evidence=one.evidence, expect=one.expect)


def host(name: str, node: Node, tree: Tree, verify: Callable[..., Judged] = _verify.verify) -> _hosts.Host:
    """What is known of a node by its bundle."""
    expect = from_inventory(node.expect)
    judged = verify(tree, expect)
    verdict = verdict_object(name, judged.checks, judged.facts)
    return _hosts.recorded(name, verdict, collected_at="today", expect=expect, waivers=())


@cache
def equals(board: str) -> tuple[_hosts.Host, ...]:
    """The healthy ones."""
    return tuple(
        host(name, node, render.render(node))
        for name, node in ((name, described(board, int(name[4:]))) for name in EQUALS)
    )


def report(hosts: Sequence[_hosts.Host]) -> dict[str, Any]:
    """The report over these hosts, as a diagnosis takes it."""
    return cluster.report(hosts, size=len(hosts), created=NOW, version="0.1.0", compare=True)


def named(words: str) -> fault.Fault:
    """The gauntlet's fault of this name."""
    return next(one for one in fault.load() if one.name == words)
