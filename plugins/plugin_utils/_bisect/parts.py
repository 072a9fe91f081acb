# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be guilty: a port with its cable, an adapter, a cable between switches, a switch, a host.

Parts that the same flows use cannot be told apart by flows. They are one part here, and its words say what
it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .net import Net

HOST = "host"
PORT = "port"
CABLE = "cable"
SWITCH = "switch"
# In which directions a part is slow.
BOTH = "both ways"
FORTH = "forth"
BACK = "back"
_FEW = 2


class Part(NamedTuple):
    """``links``: those that it slows down. ``made_of``: what flows cannot tell apart."""

    kind: str
    name: str
    links: tuple[int, ...]
    made_of: tuple[str, ...]

    def ways(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """What may be slow of it."""
        if self.kind not in (PORT, CABLE):
            return ((BOTH, self.links),)
        return (BOTH, self.links), (FORTH, self.links[:1]), (BACK, self.links[1:])


@dataclass(frozen=True)
class Parts:
    """Every part of a net, by number."""

    net: Net

    @cached_property
    def all(self) -> Sequence[Part]:
        return [*self._ports(), *self._cables(), *self._switches(), *self._hosts()]

    @cached_property
    def of(self) -> list[list[int]]:
        """The parts that a link belongs to."""
        net = self.net
        found: list[list[int]] = [[] for _turn in range(net.count)]
        for number, part in enumerate(self.all):
            for link in part.links:
                found[link].append(number)
        return found

    def _ports(self) -> list[Part]:
        net = self.net
        found = []
        for number, port in enumerate(net.ports):
            far = f"the end of the cable at {port.far}" if port.far else "the switch's port"
            made_of = ["the adapter and its PCIe slot", "the cable", far]
            if len(net.members[port.host]) == 1:
                made_of.append(f"the host {port.host}")
            if port.leaf >= 0 and len(net.below[port.leaf]) == 1:
                made_of.append(f"the switch {net.switches[port.leaf].name}")
            name = f"{port.named} - {port.far}" if port.far else port.named
            found.append(Part(PORT, name, (2 * number, 2 * number + 1), tuple(made_of)))
        return found

    def _cables(self) -> list[Part]:
        first = self.net.first_cable
        made_of = ("the lower switch's port", "the cable", "the upper switch's port")
        return [
            Part(CABLE, cable.name, (first + 2 * number, first + 2 * number + 1), made_of)
            for number, cable in enumerate(self.net.cables)
        ]

    def _switches(self) -> list[Part]:
        net = self.net
        links: dict[int, list[int]] = {}
        for number, port in enumerate(net.ports):
            if port.leaf >= 0 and len(net.below[port.leaf]) >= _FEW:
                links.setdefault(port.leaf, []).extend((2 * number, 2 * number + 1))
        for number, cable in enumerate(net.cables):
            up = net.first_cable + 2 * number
            for end in (cable.a, cable.b):
                links.setdefault(end, []).extend((up, up + 1))
        lone = {leaf for leaf, ports in net.below.items() if len(ports) < _FEW}
        return [
            Part(SWITCH, net.switches[number].name, tuple(links[number]), ("the switch",))
            for number in sorted(links)
            if number not in lone and len(links[number]) > _FEW
        ]

    def _hosts(self) -> list[Part]:
        net = self.net
        found = []
        for host, ports in net.members.items():
            if len(ports) >= _FEW:
                links = [link for port in ports for link in (2 * port, 2 * port + 1)]
                found.append(Part(HOST, host, tuple(links), ("the host as a whole",)))
        return found
