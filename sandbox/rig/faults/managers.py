# SPDX-License-Identifier: GPL-3.0-or-later
"""Subnet managers: none, too many, too few."""

from __future__ import annotations

from sandbox.rig import parts
from sandbox.rig.orders import console, end_sm, pause, sweep_sm
from sandbox.rig.plan import Plan, healthy, manager
from sandbox.rig.topology import Topology

# The master needs some milliseconds to ask the other one.
_MEETING_SECONDS = 0.3


def no_sm(topology: Topology) -> Plan:
    """Every subnet manager has ended; the fabric runs on as they left it."""
    return healthy(topology).then(*(end_sm(host) for host in topology.sms))


def standby_missing(topology: Topology) -> Plan:
    """Only the first of the subnet managers runs."""
    return Plan(topology, (manager(topology, 0),))


def two_masters(topology: Topology) -> Plan | None:
    """A leaf was cut off, a subnet manager there became master of it, and the cables are back.

    Both believe to be the master until the lower one looks again; LIDs are given twice.
    """
    (cable,) = topology.cables_of(next(n for n in topology.nodes if n.id == topology.sms[1]))
    uplinks = parts.uplinks(topology, cable.other(topology.sms[1]).node)
    if not uplinks:
        return None
    return Plan(
        topology,
        (
            *(console(f"Unlink {cable.a}") for cable in uplinks),
            manager(topology, 0),
            manager(topology, 1),
            *(console(f"ReLink {cable.a}") for cable in uplinks),
            sweep_sm(topology.sms[0]),
            pause(_MEETING_SECONDS),
        ),
    )
