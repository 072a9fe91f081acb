# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of one ibping run, in the shape that playbooks/tasks/ping.yml walks through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._rounds import (
    Participant,
    Rail,
    pairings,
)

# What a round costs beside the pings themselves: logging in and starting the module, in seconds.
ROUND_OVERHEAD = 10


def plan(hosts: Mapping[str, Participant], deadline: int) -> dict[str, Any]:
    """``serve``: host -> endpoints. ``rounds``: list of client -> questions, one dict a round.

    ``lease``: seconds that all rounds take at the worst, where every question uses up ``deadline``.
    """
    able = [name for name, who in hosts.items() if who.rails]
    rounds: list[dict[str, list[dict[str, Any]]]] = []
    for met in pairings(able):
        asked = {client: _questions(hosts[client], server, hosts[server]) for client, server in met}
        asked = {client: questions for client, questions in asked.items() if questions}
        if asked:
            rounds.append(asked)
    serve = {name: [_endpoint(rail) for rail in hosts[name].rails.values()] for name in able}
    questions = sum(max(len(one) for one in asked.values()) for asked in rounds)
    lease = 60 + len(rounds) * ROUND_OVERHEAD + questions * (deadline + 5)
    return {"serve": serve if rounds else {}, "rounds": rounds, "lease": lease}


def _questions(client: Participant, name: str, server: Participant) -> list[dict[str, Any]]:
    return [
        {
            **_endpoint(rail),
            "lid": server.rails[key].lid,
            "rail": key,
            "server": name,
            "hostname": server.hostname,
        }
        for key, rail in client.rails.items()
        if key in server.rails
    ]


def _endpoint(rail: Rail) -> dict[str, Any]:
    return {"device": rail.device, "port": rail.port}
