# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what a BeeGFS client says of its connections: in the kernel's log, and in its helper's file."""

from __future__ import annotations

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


def judge(facts: StackFacts, machine: Machine) -> list[Check]:
    """stack.beegfs.log: a check a cause, or one that tells why there is none."""
    beegfs = facts.beegfs
    told = [problem for log in (beegfs.kernel.value, beegfs.helper.value) for problem in _problems(log)]
    if beegfs.nodes.missing:
        # Of what was mounted once nothing counts; what keeps it from being mounted does.
        told = [problem for problem in told if data.CAUSES.get(problem.cause, data.OTHER).mount]
        return _failed(told) or [skipped(_ID, _SUBJECT, "no BeeGFS is mounted")]
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
    kinds = {connection.kind for node in nodes for connection in node.connections}
    if problem.cause in (data.FALLBACK, data.TCP):
        return kinds == {_RDMA}
    if problem.cause == data.SERVER:
        reached = {node.name for node in nodes if node.connections}
        ways = {connection.address for node in nodes for connection in node.connections}
        words = problem.what.split()
        return words[-1] in reached or words[0].partition("@")[2] in ways
    return False


def _silence(beegfs: Beegfs, past: list[Problem]) -> Check:
    """A log that nobody could read, and one that the client does not write, say nothing by silence."""
    for reading in (beegfs.nodes, beegfs.kernel, beegfs.helper):
        if reading.value is None and not reading.missing:
            return unknown(_ID, _SUBJECT, reading.why or "nobody looked")
    if beegfs.kernel.value is None:
        return unknown(_ID, _SUBJECT, beegfs.kernel.why)
    if beegfs.to_helper.value and beegfs.helper.value is None and not beegfs.kernel.value.spoke:
        return unknown(_ID, _SUBJECT, f"the client's log goes to beegfs-helperd, and {LOG} is not there")
    lines = beegfs.kernel.value.lines + (beegfs.helper.value.lines if beegfs.helper.value else 0)
    since = (
        ", since the kernel's log begins, which is after the boot" if beegfs.since and not beegfs.helper.value else ""
    )
    over = f"; mended since: {few([problem.what for problem in past], _SHOWN, '; ')}" if past else ""
    return passed(_ID, _SUBJECT, f"nothing wrong in {lines} lines{since}{over}", _EXPECTED, CAPABILITY)
