# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather how a BeeGFS client is connected, and what it logs: BeeGFS 7 and 8."""

from __future__ import annotations

from dataclasses import replace

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import beegfs_log, beegfs_net, dmesg
from ..._parse._beegfs_log import BeegfsLog
from ..._parse.beegfs_conf import value_of
from ..._parse.beegfs_net import BeegfsNode
from ..._parse.dmesg import Dmesg
from .facts import Beegfs

PROC = "/proc/fs/beegfs"
CONF = "/etc/beegfs/beegfs-client.conf"
# What beegfs-helperd of BeeGFS 7 writes for the client; it begins anew with each start of it.
LOG = "/var/log/beegfs-client.log"
# The management server is only ever spoken to by TCP and UDP.
_JUDGED = ("meta_nodes", "storage_nodes")


def observe(evidence: Evidence) -> Beegfs:
    """The servers of every mounted file system, what the client's file wants, and what the client says."""
    # The kernel's log is read and parsed once for all areas.
    log = ask.command(evidence, "dmesg", dmesg.parse)
    return Beegfs(
        _nodes(evidence),
        ask.file(evidence, CONF, _use_rdma),
        ask.file(evidence, CONF, _to_helper),
        log.map(_of_kernel),
        ask.file(evidence, LOG, _of_helper),
        log.value is not None and log.value.beginning_lost is True,
    )


def _nodes(evidence: Evidence) -> Reading[tuple[BeegfsNode, ...]]:
    mounted = ask.names(evidence, PROC)
    if mounted.value is None:
        return Reading(None, mounted.why, mounted.missing)
    found: list[BeegfsNode] = []
    for client in mounted.value:
        for role in _JUDGED:
            nodes = ask.file(evidence, f"{PROC}/{client}/{role}", beegfs_net.parse)
            if nodes.value is None:
                return Reading(None, nodes.why)
            found += [replace(node, role=role) for node in nodes.value]
    if not mounted.value:
        return Reading(None, f"{PROC}: no file system is mounted", True)
    return Reading(tuple(found))


def _of_kernel(log: Dmesg) -> BeegfsLog:
    # What is wrong stays so, however the log ends; its silence means nothing then.
    if log.cut and not log.beegfs.problems:
        raise ValueError("dmesg: the output ends within a line")
    return log.beegfs


def _of_helper(text: str) -> BeegfsLog:
    return beegfs_log.parse(text).told


def _use_rdma(text: str) -> bool:
    # What is not set is true since BeeGFS 6.
    return (value_of(text, "connUseRDMA") or "true").lower() in ("true", "1", "yes", "y", "on")


def _to_helper(text: str) -> bool:
    return (value_of(text, "logType") or "syslog").lower() != "syslog"
