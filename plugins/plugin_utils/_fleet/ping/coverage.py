# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of all pairs was tested, in few words however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._fleet.ping import Ping

# Ports with the fewest partners that are named.
_SHOWN = 20


def coverage(
    made: Mapping[str, Any] | None, rails: Mapping[str, Sequence[str]], pings: Sequence[Ping]
) -> dict[str, Any]:
    """The report's ``ping_coverage``. ``rails``: what every host is judged on.

    ``pairs``: client, server and rail of all hosts that have it. ``partners``: how many others a
    port was tested against, at least and at most, and the ports with the fewest.
    """
    plan = made or {}
    holders: dict[str, int] = {}
    for names in rails.values():
        for rail in names:
            holders[rail] = holders.get(rail, 0) + 1
    every = sum(count * (count - 1) for count in holders.values())
    partners: dict[tuple[str, str], set[str]] = {(host, rail): set() for host, names in rails.items() for rail in names}
    tested = 0
    for ping in pings:
        if ping.untested:
            continue
        tested += 1
        for host, other in ((ping.client, ping.server), (ping.server, ping.client)):
            partners.setdefault((host, ping.rail), set()).add(other)
    few = sorted(partners, key=lambda port: (len(partners[port]), port))
    counts = [len(others) for others in partners.values()]
    return {
        "sampled": bool(plan.get("sampled")),
        "why": str(plan.get("why") or ""),
        **{name: plan.get(name, 0) for name in ("seed", "rounds", "wanted", "visits", "budget_s", "worst_s")},
        "pairs": {"all": every, "tested": tested, "untested": max(0, every - tested)},
        "partners": {
            "least": min(counts, default=0),
            "most": max(counts, default=0),
            "of": max(0, max(holders.values(), default=0) - 1),
            "fewest": [
                {"host": host, "rail": rail, "partners": len(partners[host, rail])}
                for host, rail in few[:_SHOWN]
                if counts and len(partners[host, rail]) < max(counts)
            ],
        },
    }


def sentence(told: Mapping[str, Any] | None) -> str:
    """A sample in one line; "" where all pairs were planned."""
    if not told or not told["sampled"]:
        return ""
    pairs, partners = told["pairs"], told["partners"]
    return (
        f"Pings were a sample (seed {told['seed']}, {told['rounds']} rounds): "
        f"{pairs['tested']:,} of {pairs['all']:,} pairs, every port with {partners['least']:,} "
        f"to {partners['most']:,} of {partners['of']:,} others. {told['why'] or 'No more fit'}."
    )
