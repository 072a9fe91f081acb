# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a BeeGFS client: whether its data goes by RDMA, or has fallen back to TCP."""

from __future__ import annotations

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.text import few
from ..._parse.beegfs_net import BeegfsNode
from ..machine.facts import Machine
from .check_installed import NO_RDMA, has_rdma
from .facts import StackFacts

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
    slow = [node for node in nodes if any(some.kind != _RDMA for some in node.connections)]
    fast = [node for node in nodes if any(some.kind == _RDMA for some in node.connections)]
    if slow:
        reported = few([_shown(entry) for entry in slow], _SHOWN, "; ")
        # A module without RDMA has no RDMA connection to anybody.
        mixed = "RDMA works with others: the way to this server, or the server's own RDMA, is at fault" if fast else ""
        ask = "ping the server's RDMA address from here, and look at its beegfs-storage.log" if fast else ""
        return failed(_ID, _SUBJECT, reported, expected, CAPABILITY, cause=mixed, remedy=ask)
    if not fast:
        # It connects when it is used, and closes what is idle.
        why = "no server has a connection now: read a file, and look again"
        return unknown(_ID, _SUBJECT, why, observed=f"{len(nodes)} servers, none connected")
    return passed(_ID, _SUBJECT, f"RDMA to {len(fast)} of {len(nodes)} servers", expected, CAPABILITY)


def _shown(node: BeegfsNode) -> str:
    kinds = ", ".join(
        f"{connection.kind} {connection.address}{' (another way)' if connection.fallback else ''}".strip()
        for connection in node.connections
    )
    return f"{node.name} by {kinds}"
