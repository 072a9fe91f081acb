# SPDX-License-Identifier: GPL-3.0-or-later
"""The second pass: those at whose door something is laid ask once more.

Whom they lost a little with, which may have been a busy moment, and partners that are known to be good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from ....module_utils._fleet.ping import Ping, faults
from ....module_utils._ground.bound import Bound
from .cost import AGAIN

# Hosts that are asked again; where there are more, it is no longer about single links.
MOST: Bound = 64

Leaves = Mapping[tuple[str, str], str]


def again(made: Mapping[str, Any], pings: Sequence[Ping], leaves: Leaves) -> dict[str, list[tuple[str, str]]]:
    """Client -> (server, rail) to ask, at most four servers each; nothing where all was good.

    Those with which a little was lost come first: the same pair tells best whether that goes on. Of
    the others the first two are of its own leaf switch and the rest of other ones, where leaves are
    known and have a good port. Good is a port with an answer from somebody and nothing laid at its
    door. In the n-th turn of all clients no server of the others is asked by two.
    """
    suspects = _suspects(made, pings, leaves)
    if not suspects:
        return {}
    bad = {(host, rail) for host, rails in suspects.items() for rail in rails}
    good: dict[str, set[str]] = {}
    met: set[tuple[str, str]] = set()
    for ping in pings:
        met |= {(ping.client, ping.server), (ping.server, ping.client)}
        if ping.untested or ping.lost:
            continue
        for host in (ping.client, ping.server):
            if (host, ping.rail) not in bad and host in made["ports"]:
                good.setdefault(host, set()).add(ping.rail)
    partners = list(good)
    Random(made["seed"]).shuffle(partners)
    return _turns(suspects, good, partners, met, leaves, _little(suspects, made, pings))


def _suspects(made: Mapping[str, Any], pings: Sequence[Ping], leaves: Leaves) -> dict[str, set[str]]:
    """Host -> rails on which something is laid at its door, those with most bad pairs first."""
    found: dict[str, set[str]] = {}
    for fault in sorted(faults(pings, leaves), key=lambda fault: -fault.bad):
        for host in fault.hosts:
            ports = made["ports"].get(host, {})
            rails = {rail for rail in fault.rails if rail in ports}
            if rails and (host in found or len(found) < MOST):
                found.setdefault(host, set()).update(rails)
    return found


def _little(
    suspects: Mapping[str, set[str]], made: Mapping[str, Any], pings: Sequence[Ping]
) -> dict[str, dict[str, set[str]]]:
    """Host -> other -> rails on which a little was lost between the two, whoever asked."""
    found: dict[str, dict[str, set[str]]] = {host: {} for host in suspects}
    for ping in pings:
        for host, other in ((ping.client, ping.server), (ping.server, ping.client)):
            if ping.lost_little and ping.rail in suspects.get(host, ()) and ping.rail in made["ports"].get(other, {}):
                found[host].setdefault(other, set()).add(ping.rail)
    return found


def _turns(
    suspects: Mapping[str, set[str]],
    good: Mapping[str, set[str]],
    partners: Iterable[str],
    met: set[tuple[str, str]],
    leaves: Leaves,
    little: Mapping[str, Mapping[str, set[str]]],
) -> dict[str, list[tuple[str, str]]]:
    order = list(partners)
    used: Counter[str] = Counter()
    asked: dict[str, list[str]] = {host: list(little[host])[:AGAIN] for host in suspects}
    for turn in range(AGAIN):
        busy: set[str] = set()
        for host, rails in suspects.items():
            if len(asked[host]) >= AGAIN:
                continue
            found: list[tuple[tuple[int, bool, bool, int], str]] = []
            for other in order:
                common = rails & good[other]
                if common and other not in busy and other != host and other not in asked[host]:
                    fits = _near(host, other, common, leaves) == (turn < AGAIN // 2)
                    new = (host, other) not in met
                    found.append(((len(common), fits, new, -used[other]), other))
            if found:
                chosen = max(found, key=lambda item: item[0])[1]
                asked[host].append(chosen)
                busy.add(chosen)
                used[chosen] += 1
    return {
        host: [
            (other, rail)
            for other in mine
            for rail in sorted(little[host].get(other, set()) | (suspects[host] & good.get(other, set())))
        ]
        for host, mine in asked.items()
        if mine
    }


def _near(host: str, other: str, rails: set[str], leaves: Leaves) -> bool | None:
    """Whether two hosts hang on one leaf switch; None where nobody knows."""
    for rail in sorted(rails):
        mine, theirs = leaves.get((host, rail)), leaves.get((other, rail))
        if mine and theirs:
            return mine == theirs
    return None
