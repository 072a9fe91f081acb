# SPDX-License-Identifier: GPL-3.0-or-later
"""What a topology.conf or a topology.yaml says: switches above nodes, or blocks of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

TREE, BLOCK = "tree", "block"
# Source: topology.conf(5), SwitchName.
LONGEST = 64


@dataclass(frozen=True)
class Switch:
    """Either above nodes or above other switches. ``line`` of the file, 0 where it was not read.

    ``note``: a comment for people.
    """

    name: str
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    line: int = 0
    note: str = ""


@dataclass(frozen=True)
class Block:
    """Nodes that are one block."""

    name: str
    nodes: tuple[str, ...]
    line: int = 0
    note: str = ""


@dataclass(frozen=True)
class Topology:
    """``kind``: TREE, BLOCK, or another plugin's name, of which nothing else is kept.

    ``sizes``: BlockSizes.
    """

    kind: str
    name: str = ""
    switches: tuple[Switch, ...] = ()
    blocks: tuple[Block, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def entries(self) -> tuple[Switch | Block, ...]:
        return (*self.switches, *self.blocks)

    def upwards(self) -> list[str]:
        """The names of the switches, each after those below it; CycleError where they are no tree."""
        return [*TopologicalSorter({switch.name: switch.children for switch in self.switches}).static_order()]

    def below(self) -> Mapping[str, frozenset[str]]:
        """The nodes below every switch; of a tree whose switches stand below no other in a circle."""
        known = {switch.name: switch for switch in self.switches}
        found: dict[str, frozenset[str]] = {}
        for switch in map(known.__getitem__, self.upwards()):
            found[switch.name] = frozenset(switch.nodes).union(*(found[child] for child in switch.children))
        return found
