# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that are up and not as good as they should be."""

from __future__ import annotations

from dataclasses import replace

from sandbox.rig import parts
from sandbox.rig.faults.who import ASKING, HOST
from sandbox.rig.orders import console, run
from sandbox.rig.plan import Plan, healthy
from sandbox.rig.topology import End, Topology

_BURST = 500
# Each is repeated some times.
_QUERIES = 3


def degraded_speed(topology: Topology) -> Plan:
    """A cable between two NDR ports has trained to HDR."""
    return healthy(parts.trained(topology, topology.hca(HOST, 0), speed="HDR"))


def degraded_width(topology: Topology) -> Plan:
    """A cable has trained to one lane of four."""
    return healthy(parts.trained(topology, topology.hca(HOST, 0), width=1))


def mixed_generation(topology: Topology) -> Plan:
    """A host has an old HCA, which can do QDR at most.

    Of every younger HCA ibsim says that it could do NDR, which would be a degraded link.
    """
    return healthy(parts.trained(topology, topology.hca(HOST, 0), speed="QDR"))


def error_burst(topology: Topology) -> Plan:
    """The leaf's port to a host counts symbol errors between both looks."""
    end = parts.end_of(topology, topology.hca(HOST, 0))
    burst = console(f"PerformanceSet {end} PortCounters.SymbolErrorCounter={_BURST}")
    return replace(healthy(topology), between=(burst,))


def lossy(topology: Topology) -> Plan:
    """For a while between both looks a host's HCA loses what comes in, and counts it.

    All of it: under load, a client of ibsim that gives up on an answer which is only late may
    block the next one.
    """
    node = topology.hca(HOST, 0)
    own = topology.hca(ASKING, 0)
    # From the asking HCA's port 1 through the leaf, which both are on.
    path = f"0,1,{parts.end_of(topology, node).port}"
    packets = [run(own.id, "smpquery", "-t", "100", "-D", "nodeinfo", path)] * _QUERIES
    end = End(node.id, 1)
    return replace(
        healthy(topology),
        between=(console(f"Error {end} 100"), *packets, console(f"Error {end} 0")),
    )
