# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge IMEX, the service by which the hosts of a rack share GPU memory over NVLink: no I/O."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Iterator

from ..._expect.expectations import Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from .check_scope import Scope, cannot_tell

SERVICE, NODES, CHANNELS = "nvlink.imex.service", "nvlink.imex.nodes", "nvlink.imex.channels"

# A host's name; what consists of numbers is a broken address.
_NAME = re.compile(r"(?=[^A-Za-z]{0,253}[A-Za-z])[A-Za-z0-9][A-Za-z0-9.-]{0,253}")
_LOCAL = "localhost"
_JOB = "job"


def judge_imex(scope: Scope, expect: Expectations) -> Iterator[Check]:
    board, machine = scope.board, scope.machine
    if board is None and machine.gpus.value is None and not scope.models:
        yield from cannot_tell((SERVICE, NODES, CHANNELS), machine.gpus.why or "nobody looked for GPUs")
        return
    if board is None or not board.imex:
        for entry in (SERVICE, NODES, CHANNELS):
            yield skipped(entry, "host", "its NVLinks do not leave this host")
        return
    who = expect.get("imex")
    if who is not None and who.value == _JOB:
        for entry in (SERVICE, NODES, CHANNELS):
            yield skipped(entry, "host", f"a scheduler looks after IMEX for each job ({who.source})")
        return
    imex = scope.facts.imex
    yield look(SERVICE, "host", imex.service, lambda show: _service(scope, show))
    yield look(NODES, "host", imex.nodes, lambda nodes: _nodes(scope, nodes), missing=lambda: _no_nodes(scope))
    yield look(
        CHANNELS,
        "host",
        imex.channels,
        lambda names: _channels(scope, names),
        missing=lambda: _channels(scope, ()),
    )


def _service(scope: Scope, show: dict[str, str]) -> Check:
    load, state = show.get("LoadState", ""), show.get("ActiveState", "")
    if load == "not-found":
        return failed(SERVICE, "host", "not installed", "active", scope.source, cause="nvidia-imex is not installed")
    if not state:
        return unknown(SERVICE, "host", "systemctl show did not tell its ActiveState")
    if state == "active":
        return passed(SERVICE, "host", state, "active", scope.source)
    seen = f"{state} ({show['SubState']})" if show.get("SubState") else state
    cause = "the service is masked" if load == "masked" else ""
    return failed(SERVICE, "host", seen, "active", scope.source, cause=cause)


def _nodes(scope: Scope, nodes: tuple[str, ...]) -> Check:
    if not nodes:
        return failed(
            NODES,
            "host",
            "0 nodes",
            "the addresses of the rack's hosts",
            scope.source,
            cause=f"{scope.facts.imex.file} names no host",
        )
    if not any(_is_another(node) for node in nodes):
        return failed(
            NODES,
            "host",
            ", ".join(node[:40] for node in nodes[:4]),
            "the addresses of the rack's hosts",
            scope.source,
            cause=f"{scope.facts.imex.file} holds no address that another host could reach",
        )
    seen, own = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}", scope.facts.imex.own
    known = [_address(node) for node in nodes]
    if None in known:
        return passed(NODES, "host", f"{seen}, some by name", "at least 1", scope.source)
    if own.value is None:
        return unknown(NODES, "host", f"nobody can tell which is this host: {own.why or 'nobody looked'}")
    if not {_address(address) for address in own.value} & set(known):
        cause = f"{scope.facts.imex.file} names other hosts only, so that IMEX does not know which it is"
        return failed(NODES, "host", f"{seen}, not this host", "this host among them", scope.source, cause=cause)
    return passed(NODES, "host", seen, "this host among them", scope.source)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """None of a name, which may be this host's."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _is_another(node: str) -> bool:
    """Whether a host of the rack may have this address, or this name."""
    try:
        address = ip_address(node)
    except ValueError:
        return _NAME.fullmatch(node) is not None and not node.lower().startswith(_LOCAL)
    return not (address.is_loopback or address.is_unspecified)


def _no_nodes(scope: Scope) -> Check:
    return failed(
        NODES,
        "host",
        "no such file",
        "the addresses of the rack's hosts",
        scope.source,
        cause=f"{scope.facts.imex.file} is missing",
    )


def _channels(scope: Scope, names: tuple[str, ...]) -> Check:
    found = [name for name in names if name.startswith("channel")]
    if found:
        return passed(CHANNELS, "host", ", ".join(found[:4]), "at least 1", scope.source)
    return failed(CHANNELS, "host", "none", "at least 1", scope.source)
