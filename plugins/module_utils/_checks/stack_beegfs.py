# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a BeeGFS client: whether its data goes by RDMA, or has fallen back to TCP."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._look import look
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.stack_installed import (
    NO_RDMA,
    has_rdma,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.stack import StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._parse.beegfs_net import BeegfsNode

_ID, _SUBJECT = "stack.beegfs.transport", "beegfs"
_RDMA = "RDMA"
_SHOWN = 4


def judge(facts: StackFacts, machine: Machine) -> Check:
    """stack.beegfs.transport"""
    if facts.beegfs.nodes.missing:
        return skipped(_ID, _SUBJECT, "no BeeGFS is mounted")
    if has_rdma(facts, machine) is False:
        return skipped(_ID, _SUBJECT, NO_RDMA)
    if facts.beegfs.use_rdma.value is False:
        return skipped(_ID, _SUBJECT, "connUseRDMA is false: TCP is what the site wants")
    return look(_ID, _SUBJECT, facts.beegfs.nodes, _judged)


def _judged(nodes: tuple[BeegfsNode, ...]) -> Check:
    expected = "RDMA"
    slow = [one for one in nodes if any(some.kind != _RDMA for some in one.connections)]
    fast = [one for one in nodes if any(some.kind == _RDMA for some in one.connections)]
    if slow:
        told = "; ".join(_shown(one) for one in slow[:_SHOWN])
        more = f" and {len(slow) - _SHOWN} more" if len(slow) > _SHOWN else ""
        return failed(_ID, _SUBJECT, told + more, expected, CAPABILITY)
    if not fast:
        # It connects when it is used, and closes what is idle.
        why = "no server has a connection now: read a file, and look again"
        return unknown(_ID, _SUBJECT, why, observed=f"{len(nodes)} servers, none connected")
    told = f"RDMA to {len(fast)} of {len(nodes)} servers"
    return passed(_ID, _SUBJECT, told, expected, CAPABILITY)


def _shown(node: BeegfsNode) -> str:
    kinds = ", ".join(
        f"{one.kind} {one.address}{' (another way)' if one.fallback else ''}".strip()
        for one in node.connections
    )
    return f"{node.name} by {kinds}"
