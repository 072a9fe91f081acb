# SPDX-License-Identifier: GPL-3.0-or-later
"""On which switch port each RoCE rail hangs: by LLDP, the site's plan, or the switch's own word; no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...module_utils._data import roce
from ...module_utils._expect.expectations import CAPABILITY, Expectations
from ...module_utils._ground.check import Check, outcome, passed, unknown
from ...module_utils._ground.reading import Reading
from ...module_utils._rails import roce as rails
from ...module_utils._rails.roce_ports import UNSET, RocePort
from .._answers import rdma_rails
from .._hosts import hosts as _hosts
from .port import SwitchPort, TrafficClass
from .texts import CABLING, TEXTS, Switch, Switches

NEIGHBOUR = "roce.switch.neighbour"
_HAND_IN = f"hand in its texts ({TEXTS}): docs/lossless.md"


@dataclass(frozen=True)
class Hop:
    """A rail and the switch port at the other end of its cable. ``mark``: the ToS of RoCE, 0 where nothing sets it;
    a reading without a value where nobody could look."""

    host: str
    rail: RocePort
    expect: Expectations
    mark: Reading[int]
    switch: Switch
    port: SwitchPort

    @property
    def dscp(self) -> int:
        return (self.mark.value or 0) >> roce.DSCP_SHIFT

    @property
    def there(self) -> str:
        return f"{self.switch.name} {self.port.name}"

    @property
    def here(self) -> str:
        return f"{self.host} {self.rail.uplink or self.rail.name}"

    def roce_class(self) -> TrafficClass | None:
        return (self.port.classes.value or {}).get(self.dscp)


def of_host(host: _hosts.Host) -> Iterator[tuple[RocePort, Reading[int]]]:
    """The RoCE rails that have a cable, with the mark of their traffic."""
    told = rdma_rails.reported(host.facts, host.ib, host.expect)
    if told is None:
        return
    nccl_tc: Reading[int] = told.get("nccl_tc", Reading())
    for port in rails.split(told.get("ports", Reading()).value or (), host.expect)[0]:
        if rails.asked_soft(port, host.expect) is None and not port.virtual:
            yield port, _mark(port, nccl_tc, host.expect)


def _mark(port: RocePort, nccl_tc: Reading[int], expect: Expectations) -> Reading[int]:
    """The driver's, else NCCL's, else the inventory's. What could not be read may be any."""
    for found in (port.traffic_class, nccl_tc):
        if found.value != UNSET and not (found.value is None and found.missing):
            return found
    said = expect.get("roce_tos")
    return Reading(int(said.value) if said is not None else 0)


def neighbour(host: str, rail: RocePort, handed: Switches) -> tuple[Check, tuple[Switch, SwitchPort] | None]:
    """Where the rail hangs, by LLDP, the plan or the switch; and the switch port, where its text tells of it."""
    if handed.error:
        return unknown(NEIGHBOUR, rail.name, handed.error), None
    every = rail.neighbours.value or ()
    heard = [entry for entry in every if handed.find(entry.switch or entry.chassis) is not None]
    planned = _planned(host, rail, handed)
    # A plan, or another switch's word, holds no longer where a switch tells its own name.
    strange = not heard and any(entry.switch for entry in every)
    if len(heard) > 1:
        why = f"several switches are heard on one interface: {', '.join(map(str, heard))}"
        return unknown(NEIGHBOUR, rail.name, why), None
    if heard:
        source, switch, named = (
            "LLDP",
            handed.find(heard[0].switch or heard[0].chassis),
            (heard[0].port, heard[0].label),
        )
    elif strange:
        source, switch, named = "LLDP", None, ("", "")
    elif planned is not None:
        source, switch, named = "the plan", handed.find(planned[0]), (planned[1], "")
    else:
        source, switch, named = _by_switch(host, rail, handed)
    if switch is None:
        return unknown(NEIGHBOUR, rail.name, _unheard(rail, planned), remedy=_HAND_IN), None
    if switch.error:
        return unknown(NEIGHBOUR, rail.name, f"the texts of {switch.name}: {switch.error}"), None
    port = switch.port(*named)
    if port is None:
        why = f"{switch.name} has no port {named[0]} in its texts, by {source}"
        return unknown(NEIGHBOUR, rail.name, why, remedy=_HAND_IN), None
    observed = f"{switch.name} {port.name} ({source})"
    if heard and planned is not None:
        meant = handed.find(planned[0])
        right = meant is switch and switch.port(planned[1]) is port
        expected = f"{planned[0]} {planned[1]} ({CABLING})"
        return outcome(right, NEIGHBOUR, rail.name, observed, expected, "inventory"), (switch, port)
    return passed(NEIGHBOUR, rail.name, observed, "a switch port whose text was handed in", CAPABILITY), (switch, port)


def _ends(host: str, rail: RocePort) -> Iterator[tuple[str, str]]:
    """How a plan or a switch may name this end of the cable."""
    for port in (rail.uplink, rail.netdev.value or "", rail.name, rail.device):
        for name in dict.fromkeys((host, host.partition(".")[0])):
            if port:
                yield name.lower(), port.lower()


def _planned(host: str, rail: RocePort, handed: Switches) -> tuple[str, str] | None:
    return next((handed.cables[end] for end in _ends(host, rail) if end in handed.cables), None)


def _by_switch(host: str, rail: RocePort, handed: Switches) -> tuple[str, Switch | None, tuple[str, str]]:
    found = [entry for end in set(_ends(host, rail)) for entry in handed.behind.get(end, ())]
    return ("the switch", found[0][0], (found[0][1].name, "")) if len(found) == 1 else ("", None, ("", ""))


def _unheard(rail: RocePort, planned: tuple[str, str] | None) -> str:
    heard = rail.neighbours.value or ()
    if planned is not None and not any(entry.switch for entry in heard):
        return f"the plan names {planned[0]}, of which no text is handed in"
    if heard:
        instead = "" if planned is None else f"; the plan ({CABLING}) names {planned[0]} {planned[1]}"
        return f"hears {', '.join(map(str, heard))} by LLDP, of which no text is handed in{instead}"
    why = rail.neighbours.why or "nobody is heard by LLDP"
    return f"nothing tells on which switch port it hangs: {why}; no plan and no switch names it either"
