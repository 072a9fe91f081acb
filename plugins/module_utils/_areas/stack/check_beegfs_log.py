# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what a BeeGFS client says of its connections: in the kernel's log, and in its helper's file."""

from __future__ import annotations

from typing import Iterable

from ..._data import beegfs_log as data
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.text import few
from ..._parse._beegfs_log import BeegfsLog, Problem, by_cause
from ..._parse.beegfs_log import shown
from ..._parse.beegfs_net import BeegfsNode
from ..machine.facts import Machine
from .check_installed import has_rdma
from .facts import Beegfs, StackFacts
from .observe_beegfs import LOG

_ID, _SUBJECT = "stack.beegfs.log", "beegfs"
_EXPECTED = "no such message"
_RDMA = "RDMA"
_SHOWN = 3
_READ_END = f"read its end as root: `tail -n 20000 {LOG} | ibready why`"
_ROLES = {"beegfs-meta": "meta_nodes", "beegfs-storage": "storage_nodes"}


def judge(facts: StackFacts, machine: Machine) -> list[Check]:
    """stack.beegfs.log: a check a cause, or one that tells why there is none."""
    beegfs = facts.beegfs
    told = [problem for log in (beegfs.kernel.value, beegfs.helper.value) for problem in _problems(log)]
    if beegfs.nodes.missing:
        # Of what was mounted once nothing counts; what keeps it from being mounted does.
        told = [problem for problem in told if data.CAUSES.get(problem.cause, data.OTHER).mount]
        return _failed(told) or [_not_mounted(beegfs)]
    if has_rdma(facts, machine) is False or beegfs.use_rdma.value is False:
        told = [problem for problem in told if problem.cause not in (data.TCP, data.RAILS)]
    past = [problem for problem in told if _is_over(problem, beegfs.nodes.value or ())]
    return _failed([problem for problem in told if problem not in past]) or [_silence(beegfs, past)]


def _problems(log: BeegfsLog | None) -> tuple[Problem, ...]:
    return () if log is None else log.problems


def _failed(told: list[Problem]) -> list[Check]:
    checks = []
    for name, mine in by_cause(told).items():
        cause = data.CAUSES.get(name, data.OTHER)
        checks.append(failed(_ID, name, shown(mine), _EXPECTED, CAPABILITY, cause=cause.means, remedy=cause.remedy))
    return checks


def _is_over(problem: Problem, nodes: tuple[BeegfsNode, ...]) -> bool:
    """Whether the connections of now say that it has passed; the log tells the last change alone."""
    addresses = {server.partition("@")[2] for server in problem.failed}
    if problem.cause in (data.FALLBACK, data.TCP):
        mended = [node for node in nodes if _is_by_rdma(node)]
        return bool(nodes) and (len(mended) == len(nodes) or _has_address(mended, addresses))
    if problem.cause == data.SERVER:
        kind, _blank, name = problem.what.partition(" ")
        # A metadata and a storage server may have the same name, and so may those of two file systems.
        same = [node for node in nodes if (node.role, node.name) == (_ROLES.get(kind), name)]
        by_name = bool(same) and all(node.connections for node in same)
        return by_name if _ROLES.get(kind) else _has_address(nodes, addresses)
    return False


def _is_by_rdma(node: BeegfsNode) -> bool:
    """Whether it has connections, all by RDMA and by its first rail."""
    return bool(node.connections) and all(way.kind == _RDMA and not way.fallback for way in node.connections)


def _has_address(nodes: Iterable[BeegfsNode], addresses: set[str]) -> bool:
    return any(way.address in addresses for node in nodes for way in node.connections)


def _not_mounted(beegfs: Beegfs) -> Check:
    """Where a client is set up, a log that nobody could read may say what keeps it from mounting."""
    unread = next((log.why for log in (beegfs.kernel, beegfs.helper) if log.value is None and not log.missing), "")
    if beegfs.to_helper.known and (unread or beegfs.half_read):
        return unknown(_ID, _SUBJECT, f"no BeeGFS is mounted, and why is not known: {unread or beegfs.half_read}")
    return skipped(_ID, _SUBJECT, "no BeeGFS is mounted")


def _silence(beegfs: Beegfs, past: list[Problem]) -> Check:
    """A log that nobody could read, and one that the client does not write, say nothing by silence."""
    for reading, ask in ((beegfs.nodes, ""), (beegfs.kernel, ""), (beegfs.helper, _READ_END)):
        if reading.value is None and not reading.missing:
            return unknown(_ID, _SUBJECT, reading.why or "nobody looked", remedy=ask)
    kernel, helper = beegfs.kernel.value, beegfs.helper.value
    if kernel is None:
        return unknown(_ID, _SUBJECT, beegfs.kernel.why)
    if beegfs.half_read:
        return unknown(_ID, _SUBJECT, beegfs.half_read)
    if helper is None and not kernel.spoke and beegfs.to_helper.value is not False:
        return unknown(_ID, _SUBJECT, _elsewhere(beegfs))
    lines = kernel.lines + (helper.lines if helper else 0)
    over = f"; fixed since: {few([problem.what for problem in past], _SHOWN, '; ')}" if past else ""
    return passed(_ID, _SUBJECT, f"nothing wrong in {lines} lines{_since(beegfs)}{over}", _EXPECTED, CAPABILITY)


def _elsewhere(beegfs: Beegfs) -> str:
    if beegfs.to_helper.value:
        return f"the client's log goes to beegfs-helperd, and {LOG} is not there"
    return f"the kernel's log has no word of the client, and where it logs to is not known: {beegfs.to_helper.why}"


def _since(beegfs: Beegfs) -> str:
    """Since when, where the log of a client has lost its beginning."""
    if beegfs.helper.value is None:
        return ", since the kernel's log begins, which is after the boot" if beegfs.since else ""
    return "" if beegfs.helper.value.spoke else f", since {LOG} begins, which is after the mount"
