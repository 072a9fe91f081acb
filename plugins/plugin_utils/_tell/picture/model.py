# SPDX-License-Identifier: GPL-3.0-or-later
"""One judged fabric of a report as pictures need it; whatever has another shape is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..._ground.dicts import as_dict, as_list
from .svg import LOOKS, UNKNOWN

LEAF, SPINE, CORE = "leaf", "spine", "core"
LEVELS = (CORE, SPINE, LEAF)
SWITCH = "switch"


@dataclass(frozen=True)
class Node:
    """``host``: "" for what is none of the inventory's; ``rail``: from 1, 0 where it is none."""

    guid: str
    name: str
    type: str
    host: str = ""
    hca: str = ""
    rail: int = 0
    level: str = ""
    leaf: str = ""

    @property
    def is_switch(self) -> bool:
        return self.type == SWITCH

    @property
    def shown(self) -> str:
        """What people call it."""
        if self.host:
            return f"{self.host} {self.hca}".rstrip()
        return self.name or self.guid


@dataclass(frozen=True)
class Link:
    """A cable: its ends as GUID and port, and how it does."""

    a: str
    a_port: int
    b: str
    b_port: int
    kind: str
    state: str
    why: str


@dataclass(frozen=True)
class Fabric:
    """Nodes by GUID in a readable order, and all links between them. ``name``: as it stands in a sentence."""

    name: str
    nodes: dict[str, Node] = field(default_factory=dict)
    links: tuple[Link, ...] = ()

    def level(self, wanted: str) -> list[Node]:
        """The switches of one level; one that nobody could place stands with the leaves."""
        return [
            node
            for node in self.nodes.values()
            if node.is_switch and (node.level == wanted or (wanted == LEAF and node.level not in LEVELS))
        ]

    @cached_property
    def by_leaf(self) -> dict[str, list[Node]]:
        """The adapters of each leaf; under "" those of which no leaf is known."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if not node.is_switch:
                leaf = node.leaf if node.leaf in self.nodes else ""
                found.setdefault(leaf, []).append(node)
        return found

    @cached_property
    def ends(self) -> dict[str, list[Link]]:
        """The links at each node."""
        found: dict[str, list[Link]] = {}
        for link in self.links:
            for guid in dict.fromkeys((link.a, link.b)):
                found.setdefault(guid, []).append(link)
        return found

    def said(self, link: Link) -> str:
        """One link in words, not escaped."""
        ends = (
            f"{self.nodes[guid].shown} port {port}" for guid, port in ((link.a, link.a_port), (link.b, link.b_port))
        )
        words = f"{' - '.join(ends)}: {LOOKS[link.state].says}"
        return ", ".join(part for part in (words, link.kind, link.why) if part)


def read(raw: Mapping[str, Any]) -> Fabric:
    """One element of report["fabric"]["fabrics"]; a link to a node that is not told is left out."""
    nodes = (_node(as_dict(entry)) for entry in as_list(raw.get("nodes")))
    known = {node.guid: node for node in sorted(nodes, key=_order) if node.guid}
    links = (_link(as_dict(entry)) for entry in as_list(raw.get("links")))
    # The only fabric of a cluster has no name of its own.
    name = str(raw.get("name") or "")
    name = name if name.startswith("fabric") else f"fabric {name}".strip()
    return Fabric(name, known, tuple(link for link in links if link.a in known and link.b in known))


def _order(node: Node) -> tuple[int, list[tuple[int, str]], list[tuple[int, str]]]:
    return node.rail, natural(node.host), natural(node.name)


def natural(said: str) -> list[tuple[int, str]]:
    """node2 before node10."""
    parts: list[tuple[int, str]] = []
    for char in said:
        digit = "0" <= char <= "9"
        if digit and parts and parts[-1][1] == "":
            parts[-1] = (min(parts[-1][0] * 10 + int(char), 10**18), "")
        else:
            parts.append((int(char), "") if digit else (-1, char))
    return parts


def _node(raw: Mapping[str, Any]) -> Node:
    rail = raw.get("rail")
    texts = ("guid", "name", "type", "host", "hca", "level", "leaf")
    return Node(
        **{name: str(raw.get(name) or "") for name in texts},
        rail=rail if isinstance(rail, int) and not isinstance(rail, bool) else 0,
    )


def _link(raw: Mapping[str, Any]) -> Link:
    state = str(raw.get("state") or "")
    kind = " ".join(str(raw.get(name)) for name in ("width", "speed") if raw.get(name))
    return Link(
        str(raw.get("a") or ""),
        _port(raw.get("a_port")),
        str(raw.get("b") or ""),
        _port(raw.get("b_port")),
        kind,
        state if state in LOOKS else UNKNOWN,
        str(raw.get("why") or ""),
    )


def _port(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value <= 255 else 0
