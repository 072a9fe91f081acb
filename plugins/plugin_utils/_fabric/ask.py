# SPDX-License-Identifier: GPL-3.0-or-later
"""Which host asks which fabric: each once, by as few hosts as can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Device, port number, the subnet manager that answered it ("" where none did), its state.
Port = tuple[str, int, str, str]


def askers(hosts: Mapping[str, Sequence[Port]]) -> dict[str, list[tuple[str, int]]]:
    """Host -> ports to ask, in the order of ``hosts``.

    Fabrics are told apart by their subnet manager; where none answered, by the name of the port,
    for rail i of all hosts is one fabric until somebody knows better. A port that is Active is
    taken before one that is not.
    """
    ways: dict[str, dict[str, Port]] = {}
    for host, ports in hosts.items():
        for port in sorted(ports, key=lambda one: one[3] != "Active"):
            device, number, manager, _state = port
            ways.setdefault(manager or f"{device}/{number}", {}).setdefault(host, port)
    chosen: dict[str, list[tuple[str, int]]] = {}
    left = set(ways)
    while left:
        # Whoever sees the most of those that are left; the first of the inventory on a draw.
        best = max(hosts, key=lambda host: sum(host in ways[one] for one in left))
        mine = [one for one in ways if one in left and best in ways[one]]
        chosen[best] = [ways[one][best][:2] for one in mine]
        left -= set(mine)
    return chosen
