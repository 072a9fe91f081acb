# SPDX-License-Identifier: GPL-3.0-or-later
"""What the outputs of a recording must hold, worked out from what the simulator says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.config import RAILS

# What the netfile holds beside the nodes: three switches of 32 ports, and the HCA of the SM.
SWITCHES, SWITCH_PORTS, SM_HCAS, TRUNKS = 3, 32, 1, 2

# Pairs of a dotted path into the parser's facts, and the value there.
Expected = list[list[Any]]


@dataclass(frozen=True)
class State:
    """What the simulator says of itself: ports by "node1/ibsim0"."""

    ports: dict[str, dict[str, Any]]

    def reached(self) -> list[dict[str, Any]]:
        """The nodes' ports that a discovery from node1 reaches."""
        return [port for port in self.ports.values() if port["state"] != "Down"]

    def links(self) -> int:
        return len(self.reached()) + SM_HCAS + TRUNKS


def ibstat(state: State, node: str) -> Expected:
    found: Expected = []
    for at, hca in enumerate(RAILS):
        port = state.ports[f"{node}/{hca}"]
        one = f"cas.{at}.ports.0"
        state_name = "Initializing" if port["state"] == "Init" else port["state"]
        found += [[f"cas.{at}.name", hca], [f"{one}.state", state_name]]
        found.append([f"{one}.physical_state", port["physical"]])
        # What a port that is down shows of its rate and LID means nothing.
        if port["state"] != "Down":
            found += [[f"{one}.rate", port["gbps"]], [f"{one}.lid", port["lid"]]]
    return found


def ibstatus(state: State, node: str) -> Expected:
    found: Expected = [["n_devices", len(RAILS)]]
    for at, hca in enumerate(RAILS):
        port = state.ports[f"{node}/{hca}"]
        one = f"devices.{at}"
        found.append([f"{one}.name", hca])
        if port["state"] != "Down":
            found += [[f"{one}.rate_gbps", port["gbps"]], [f"{one}.lid_int", port["lid"]]]
    return found


def iblinkinfo(state: State) -> Expected:
    adapters = len(state.reached()) + SM_HCAS
    waiting = sum(port["state"] == "Init" for port in state.reached())
    ends = 2 * state.links()
    counts = {"Active/LinkUp": ends - 2 * waiting, "Down/Polling": adapters - ends}
    counts["Down/Polling"] += SWITCHES * SWITCH_PORTS
    if waiting:
        counts["Initialize/LinkUp"] = 2 * waiting
    return [["n_ports", SWITCHES * SWITCH_PORTS + adapters], ["state_counts", counts]]


def ibnetdiscover(state: State) -> Expected:
    # A lane of NDR carries 100 Gb/s.
    slow = sum(port["gbps"] == 100 for port in state.reached())
    widths = {"4xNDR": 2 * (state.links() - slow)}
    if slow:
        widths["1xNDR"] = 2 * slow
    cas = len(state.reached()) + SM_HCAS
    return [["switches", SWITCHES], ["cas", cas], ["routers", 0], ["link_widths", widths]]


def ports_list(state: State) -> Expected:
    cas = len(state.reached()) + SM_HCAS
    switch_lines = SWITCHES * SWITCH_PORTS
    return [
        ["format", "ports-list"],
        ["lines", cas + switch_lines],
        ["ca_lines", cas],
        ["sw_lines", switch_lines],
        ["unknown_speed_lines", 0],
    ]


def ibqueryerrors(state: State) -> Expected:
    # How many nodes are bad is not known: ibsim counts some of what passes through it.
    return [["nodes_checked", SWITCHES + len(state.reached()) + SM_HCAS]]


def ibhosts(state: State) -> Expected:
    return [["n", len(state.reached()) + SM_HCAS]]


MASTER: Expected = [["lid", 1], ["state", 3], ["state_name", "SMINFO_MASTER"], ["priority", 0]]


def counter(name: str, value: int) -> Expected:
    return [[f"blocks.0.counters.{name}", value], [f"blocks.0.nonzero_errors.{name}", value]]
