# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fault between hosts is called, seen from one of those that it is laid at."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._ping_faults import (
    HOST,
    LEAF,
    PORT,
    WAY,
    Fault,
)


def cause(fault: Fault, host: str, sound: int = 0) -> str:
    """One sentence: what fails, what does not, and so what it must be.

    ``sound``: rails of the host at which nothing fails.
    """
    if fault.kind == HOST:
        return (
            f"pings get lost on all its {len(fault.rails)} rails, in {fault.bad} of {fault.tried} "
            "pairs: the host, rather than one of its cables"
        )
    if fault.kind == PORT:
        return (
            f"pings get lost with {fault.bad} of {fault.tried} partners, who do better with "
            f"others{_others(sound)}: its port, its cable or the switch port at the other end"
        )
    if fault.kind == LEAF:
        return _leaf(fault)
    if fault.kind == WAY:
        return _way(fault, host)
    return (
        f"pings get lost in all {fault.bad} pairs of this rail: nobody is known to be good, so "
        "nobody can be told to be bad"
    )


def remedy(fault: Fault) -> str:
    """What to do where the catalog's words for one port do not fit; "" where they do."""
    if fault.kind == LEAF:
        return f"look at switch {fault.leaf} and its uplinks (`iblinkinfo -S {fault.leaf}`)"
    if fault.kind == WAY:
        return "follow the way with `ibtracert` between the two LIDs and read its counters"
    return ""


def _others(sound: int) -> str:
    if not sound:
        return ""
    return f", and {sound} other rail{'s' * (sound > 1)} of this host lose{'s' * (sound == 1)} none"


def _leaf(fault: Fault) -> str:
    hosts = f"all {len(fault.hosts)} hosts of leaf switch {fault.leaf} that were asked"
    if fault.tried > fault.bad:
        return f"{hosts} reach each other on this rail and nobody else: the switch's uplinks"
    return f"pings get lost for {hosts} on this rail: the leaf switch"


def _way(fault: Fault, host: str) -> str:
    known = fault.leaf.strip() not in ("", "and")
    between = f" (leaf switches {fault.leaf})" if known else ""
    others = [name for name in fault.hosts if name != host]
    if not others:
        return (
            f"pings get lost with {fault.bad} of {fault.tried} partners, all of one leaf switch of "
            f"which no other was reached: the way between the switches{between}"
        )
    if fault.tried == 1:
        return f"pings get lost with {others[0]}, and nobody else was asked: either of the two"
    return (
        f"pings get lost with {others[0]} alone, and both are good with others: the way between "
        f"the two{between}"
    )
