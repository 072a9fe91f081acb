# SPDX-License-Identifier: GPL-3.0-or-later
"""How a state of a fabric is brought about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.rig.orders import Order, sm, sweep
from sandbox.rig.topology import Topology

# The first of a topology's subnet managers is to be the master.
_HIGHEST = 14


@dataclass(frozen=True)
class Plan:
    """What is built, what happens before the first look, and what between both looks."""

    topology: Topology
    before: tuple[Order, ...]
    between: tuple[Order, ...] = ()

    def then(self, *orders: Order) -> Plan:
        """The same, with more before the first look."""
        return replace(self, before=(*self.before, *orders))


# None: the topology has nothing of the kind.
Fault = Callable[[Topology], Plan | None]


def manager(topology: Topology, place: int) -> Order:
    """Start one of a topology's subnet managers."""
    return sm(topology.sms[place], sm_priority=str(_HIGHEST - place))


def healthy(topology: Topology) -> Plan:
    """A subnet manager on each of the hosts that are to have one, and nothing wrong."""
    started = [manager(topology, place) for place in range(len(topology.sms))]
    # A master knows of standbys that were there when it looked.
    return Plan(topology, (*started, sweep()))
