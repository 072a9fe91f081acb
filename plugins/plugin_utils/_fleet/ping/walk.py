# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks whom, read from a plan (plan.py).

Ansible imports it anew for each host and visit, so it imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def questions(made: Mapping[str, Any], client: str, asked: Iterable[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """Questions to (server, rail), or on all common rails, as the module ibping takes them."""
    ports = made["ports"]
    return [
        {
            "device": device,
            "port": port,
            "lid": ports[server][rail][2],
            "rail": rail,
            "server": server,
            "hostname": made["hostnames"][server],
        }
        for server, only in asked
        for rail, (device, port, _lid) in ports[client].items()
        if rail in ports[server] and only in (None, rail)
    ]


def of_visit(made: Mapping[str, Any], client: str, visit: int) -> list[dict[str, Any]]:
    """The questions of a client in one visit, round after round."""
    rounds = made["ask"].get(client, [])
    servers = rounds[visit] if visit < len(rounds) else []
    return questions(made, client, [(server, None) for server in servers])


def planned(made: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Client and server of every planned pair."""
    return [(client, server) for client, visits in made["ask"].items() for servers in visits for server in servers]
