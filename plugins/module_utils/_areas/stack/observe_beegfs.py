# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather how a BeeGFS client is connected, and what it logs: BeeGFS 7 and 8."""

from __future__ import annotations

from dataclasses import replace

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.command import decode
from ..._ground.reading import Reading
from ..._parse import beegfs_log, beegfs_net, dmesg
from ..._parse._beegfs_log import BeegfsLog
from ..._parse.beegfs_conf import value_of
from ..._parse.beegfs_log import Log
from ..._parse.beegfs_net import BeegfsNode
from ..._parse.dmesg import Dmesg
from .facts import Beegfs

PROC = "/proc/fs/beegfs"
CONF = "/etc/beegfs/beegfs-client.conf"
# What beegfs-helperd of BeeGFS 7 writes for the client; it begins anew with each start of it.
LOG = "/var/log/beegfs-client.log"
_HELPERD = "/etc/beegfs/beegfs-helperd.conf"
# The management server is only ever spoken to by TCP and UDP.
_JUDGED = ("meta_nodes", "storage_nodes")


def observe(evidence: Evidence) -> Beegfs:
    """The servers of every mounted file system, what the client's file wants, and what the client says."""
    # The kernel's log is read and parsed once for all areas.
    log = ask.command(evidence, "dmesg", dmesg.parse)
    to_helper = _to_helper(evidence)
    # What is left of an earlier release is of no client that there is now.
    kept = Reading[Log](None, f"{CONF}: logType is syslog", True) if to_helper.value is False else _kept(evidence)
    return Beegfs(
        _nodes(evidence),
        ask.file(evidence, CONF, _use_rdma),
        to_helper,
        log.map(_of_kernel),
        kept.map(lambda found: found.told),
        log.value is not None and log.value.beginning_lost is True,
        _half_read(log.value, kept.value),
    )


def _kept(evidence: Evidence) -> Reading[Log]:
    """The helper's file, with the end of its last line, which tells whether it is whole."""
    found = ask.data(evidence, LOG).map(lambda data: beegfs_log.parse(decode(data)))
    return found if found.known or found.why.startswith(LOG) else Reading(None, f"{LOG}: {found.why}")


def _half_read(kernel: Dmesg | None, kept: Log | None) -> str:
    """Why the silence of a log that was read says nothing, "" where it does."""
    if kernel is not None and kernel.cut:
        return "dmesg: the output ends within a line"
    if kept is not None and kept.cut:
        return f"{LOG}: it ends within a line"
    if kept is not None and kept.unread:
        return f"{LOG}: {kept.unread} of its lines cannot be read"
    return ""


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


def _use_rdma(text: str) -> bool:
    # What is not set is true since BeeGFS 6.
    return (value_of(text, "connUseRDMA") or "true").lower() in ("true", "1", "yes", "y", "on")


def _to_helper(evidence: Evidence) -> Reading[bool]:
    told = ask.file(evidence, CONF, lambda text: (value_of(text, "logType") or "").lower())
    if told.value == "":
        # BeeGFS 7 logs by its helper then; BeeGFS 8 has none. Source: Config.c of the client module.
        return ask.there(evidence, _HELPERD)
    return told.map(lambda kind: kind != "syslog")
