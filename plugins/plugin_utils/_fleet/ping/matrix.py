# SPDX-License-Identifier: GPL-3.0-or-later
"""Pings as one square a rail, host by host or, of many hosts, group by group: for heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._fleet.ping import Ping

# The most rows of a square: with 8 rails, half a MB of JSON.
SIDE = 64

Leaves = Mapping[tuple[str, str], str]


def matrix(rails: Mapping[str, Sequence[str]], pings: Sequence[Ping], leaves: Leaves) -> list[dict[str, Any]]:
    """The report's ``ping_matrix``: one square a rail, rows ask and columns are asked.

    ``by``: ``host``, ``leaf`` (GUIDs) or ``group`` (hosts next to each other in the inventory).
    ``size``: hosts of each row. ``tested``, ``bad``: pairs; ``loss``: the most percent lost of one
    pair, ``rtt_ms``: the longest mean; both null where nothing was tested or answered.
    """
    of: dict[str, list[Ping]] = {}
    for ping in pings:
        if not ping.untested:
            of.setdefault(ping.rail, []).append(ping)
    names = sorted({rail for mine in rails.values() for rail in mine})
    return [
        _square(rail, [host for host, mine in rails.items() if rail in mine], of.get(rail, []), leaves)
        for rail in names
    ]


def _square(rail: str, hosts: Sequence[str], pings: Sequence[Ping], leaves: Leaves) -> dict[str, Any]:
    by, rows, place = _rows(rail, hosts, leaves)
    side = range(len(rows))
    tested = [[0 for _turn in side] for _turn in side]
    bad = [[0 for _turn in side] for _turn in side]
    loss: list[list[float | None]] = [[None for _turn in side] for _turn in side]
    rtt: list[list[float | None]] = [[None for _turn in side] for _turn in side]
    for ping in pings:
        if ping.client not in place or ping.server not in place:
            continue
        at, to = place[ping.client], place[ping.server]
        tested[at][to] += 1
        bad[at][to] += ping.lost
        lost = round(100 * (ping.sent - ping.received) / ping.sent, 1)
        loss[at][to] = max(loss[at][to] or 0.0, lost)
        if ping.rtt_avg is not None:
            rtt[at][to] = max(rtt[at][to] or 0.0, ping.rtt_avg)
    size = [0 for _turn in side]
    for index in place.values():
        size[index] += 1
    return {
        "rail": rail,
        "by": by,
        "rows": rows,
        "size": size,
        "tested": tested,
        "bad": bad,
        "loss": loss,
        "rtt_ms": rtt,
    }


def _rows(rail: str, hosts: Sequence[str], leaves: Leaves) -> tuple[str, list[str], dict[str, int]]:
    """By what, the names of the rows, and the row of each host."""
    if len(hosts) <= SIDE:
        return "host", list(hosts), {host: number for number, host in enumerate(hosts)}
    switches = list(dict.fromkeys(leaves.get((host, rail), "") for host in hosts))
    if "" not in switches and 1 < len(switches) <= SIDE:
        return "leaf", switches, {host: switches.index(leaves[host, rail]) for host in hosts}
    step = -(-len(hosts) // SIDE)
    groups = [hosts[start : start + step] for start in range(0, len(hosts), step)]
    rows = [f"{group[0]} to {group[-1]}" if len(group) > 1 else group[0] for group in groups]
    return "group", rows, {host: number // step for number, host in enumerate(hosts)}
