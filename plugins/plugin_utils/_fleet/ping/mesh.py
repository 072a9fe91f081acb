# SPDX-License-Identifier: GPL-3.0-or-later
"""What there was to ping and what came of it, of the hosts of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._fleet.ping import Mesh, Ping
from ..._answers import ping
from ..._hosts import rounds
from ..._hosts.hosts import Host
from . import walk

# Of more hosts, pairs that nobody planned are counted (coverage.py) and not listed.
_LISTED = 128

Plan = Mapping[str, Any] | None


def pings(hosts: Sequence[Host], taking_part: Mapping[str, rounds.Participant], made: Plan) -> list[Ping]:
    """Every planned pair on every rail: answered, asked in vain, or untested and why.

    Planned are all pairs of all hosts, where they were not a sample and the hosts are not many.
    """
    asked = [_fair(ping.ping(host.name, answer), taking_part) for host in hosts for answer in host.answers]
    answered = {(entry.client, entry.server, entry.rail) for entry in asked}
    pairs = None
    if (made and made["sampled"]) or len(hosts) > max(_LISTED, _wished(made)):
        pairs = [
            (client, server)
            for client, server in (walk.planned(made) if made else ())
            if client in taking_part and server in taking_part
        ]
    return asked + rounds.untested(taking_part, answered, pairs)


def _fair(ping: Ping, taking_part: Mapping[str, rounds.Participant]) -> Ping:
    """A loss counts only where the server was there for it, as far as is known."""
    server = taking_part.get(ping.server)
    why = rounds.why_not(server, ping.rail) if server else None
    if ping.untested or ping.received == ping.sent or why is None:
        return ping
    return Ping(ping.client, ping.server, ping.rail, untested=why, culprit=ping.server)


def mesh(hosts: Sequence[Host], taking_part: Mapping[str, rounds.Participant], made: Plan) -> Mesh:
    """The same for the checks."""
    missing = {
        name: {rail: _why_left_out(who, rail, made) for rail in (*who.rails, *who.missing)}
        for name, who in taking_part.items()
    }
    return Mesh(
        sampled=f"a sample (seed {made['seed']})" if made and made["sampled"] else "",
        others=len(hosts) - 1,
        again=[ping.ping(host.name, entry) for host in hosts for entry in host.answers_again],
        leaves={(host, rail): leaf for host, rail, leaf in made["leaves"]} if made else {},
        missing=missing,
    )


def _wished(made: Plan) -> int:
    """Up to how many hosts the site wants all pairs, where that was kept."""
    return int(made["full_mesh"]) if made and not made["sampled"] else 0


def _why_left_out(who: rounds.Participant, rail: str, made: Plan) -> str:
    """Why nobody was asked on this rail, should that be so; "" where nothing is known."""
    why = rounds.why_not(who, rail)
    if why is None and made and made["sampled"]:
        return f"no round has a partner for it: {made['why'] or 'no other host has this port'}"
    return why or ""
