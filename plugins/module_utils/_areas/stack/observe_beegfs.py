# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather how a BeeGFS client is connected, from what its kernel module shows of BeeGFS 7 and 8."""

from __future__ import annotations

from dataclasses import replace

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import beegfs_net
from ..._parse.beegfs_conf import value_of
from ..._parse.beegfs_net import BeegfsNode
from .facts import Beegfs

PROC = "/proc/fs/beegfs"
CONF = "/etc/beegfs/beegfs-client.conf"
# The management server is only ever spoken to by TCP and UDP.
_JUDGED = ("meta_nodes", "storage_nodes")


def observe(evidence: Evidence) -> Beegfs:
    """The servers of every mounted file system, and whether the client's file wants RDMA."""
    wanted = ask.file(evidence, CONF, _use_rdma)
    mounted = ask.names(evidence, PROC)
    if mounted.value is None:
        return Beegfs(Reading(None, mounted.why, mounted.missing), wanted)
    found: list[BeegfsNode] = []
    for client in mounted.value:
        for role in _JUDGED:
            nodes = ask.file(evidence, f"{PROC}/{client}/{role}", beegfs_net.parse)
            if nodes.value is None:
                return Beegfs(Reading(None, nodes.why), wanted)
            found += [replace(node, role=role) for node in nodes.value]
    if not mounted.value:
        return Beegfs(Reading(None, f"{PROC}: no file system is mounted", True), wanted)
    return Beegfs(Reading(tuple(found)), wanted)


def _use_rdma(text: str) -> bool:
    # What is not set is true since BeeGFS 6.
    return (value_of(text, "connUseRDMA") or "true").lower() in ("true", "1", "yes", "y", "on")
