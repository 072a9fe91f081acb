# SPDX-License-Identifier: GPL-3.0-or-later
"""Every connection that was planned: what became of it, or why it was not tested and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._tcp.outcome import (
    BARRED,
    CONNECTED,
    PROVED,
    UNABLE,
    UNRESOLVED,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.tried import Try
from ansible_collections.ibready.cluster.plugins.plugin_utils import _tcp_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._tcp_told import Told

_NOT_ASKED = "it was not asked to connect"


def tries(hosts: Mapping[str, Told]) -> list[Try]:
    """One per planned connection, in the plan's order."""
    able = {name: told.address for name, told in hosts.items() if told.takes_part}
    answers = {
        (client, str(answer.get("server")), answer.get("port")): answer
        for client in able
        for answer in hosts[client].answers
        if isinstance(answer, Mapping)
    }
    found: list[Try] = []
    for client, server in _tcp_plan.pairs(able):
        for one in _planned(client, server, hosts[server]):
            answer = answers.get((client, server, one.port))
            if one.untested:
                found.append(one)
            elif answer is None:
                why = hosts[client].host.error or _NOT_ASKED
                found.append(_untested(one, why, client))
            else:
                found.append(_told(one, answer, hosts[server]))
    return found


def row(one: Try) -> dict[str, Any]:
    """A connection as the report holds it."""
    return asdict(one)


def _planned(client: str, server: str, told: Told) -> Iterator[Try]:
    for port in (*told.listens, *told.host.held):
        yield Try(client, server, port)
    for port in told.sample:
        yield Try(client, server, port, sample=True)
    if told.sample_why and not told.sample:
        yield _untested(Try(client, server, 0, sample=True), told.sample_why, server)


def _told(one: Try, answer: Mapping[str, Any], server: Told) -> Try:
    """What an answer says, as far as it can be believed."""
    outcome, said = str(answer.get("outcome")), str(answer.get("said") or "")
    if outcome == UNABLE:
        return _untested(one, said or "it could not connect", one.client)
    held = server.host.held.get(one.port)
    if held and outcome in BARRED:
        why = f"port {one.port} is in use by {held}, which cannot be reached from {one.client}"
        return _untested(one, f"{why}: {outcome}", one.server)
    if outcome in BARRED and server.ended:
        return _untested(one, server.ended, one.server)
    # Nobody proves anything on a port that another program has, and only there.
    fitting = [word for word in PROVED if (word == CONNECTED) is bool(held)]
    if outcome not in (*fitting, *BARRED, UNRESOLVED):
        return _untested(one, f"the module tcp_reach returned {outcome!r}", one.client)
    ms = answer.get("ms")
    ms = ms if isinstance(ms, (int, float)) else None
    return Try(one.client, one.server, one.port, one.sample, outcome, ms, said)


def _untested(one: Try, why: str, culprit: str) -> Try:
    return Try(one.client, one.server, one.port, one.sample, untested=why, culprit=culprit)
