# SPDX-License-Identifier: GPL-3.0-or-later
"""A large fabric as a picture: switches in squares by level and rail, each with what hangs on it.

Nothing is drawn twice, and the size is bounded: of more switches than there is room for, some
stand for several.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from . import svg
from .fabric_nodes import svg_entries
from .model import CORE, LEAF, SPINE, Fabric, Link, Node

# Squares of one level or rail; pairs of switches of which all lines are drawn, and beyond those
# pairs of which the bad ones are.
SQUARES = 128
PAIRS = 256
LINES = 64
_PER_ROW = 32
_HEIGHT = 30
# A few have room for their names.
_NAMED = 12
_NARROW, _WIDE = 34, 98
_LEFT = 150


@dataclass(frozen=True)
class Square:
    """One switch, or several that stand together."""

    nodes: tuple[Node, ...]

    @property
    def shown(self) -> str:
        if len(self.nodes) == 1:
            return self.nodes[0].shown
        return f"{self.nodes[0].shown} to {self.nodes[-1].shown}"


def draw(fabric: Fabric, name: str) -> str:
    """The picture; ``name`` as svg.picture has it."""
    parts: list[str] = []
    places: dict[str, tuple[float, float]] = {}
    entries = svg_entries({link.state for link in fabric.links})
    bands = [(label, nodes, _squares(nodes)) for label, nodes in _bands(fabric)]
    longest = min(_PER_ROW, max((len(squares) for *_unused, squares in bands), default=0))
    wide = _WIDE if longest <= _NAMED else _NARROW
    y = 46.0
    for label, nodes, squares in bands:
        parts.append(svg.word(8, y + 18, label, 12, "start"))
        parts.append(svg.word(8, y + 32, svg.said("picture.switches", n=len(nodes)), 10, "start"))
        for number, square in enumerate(squares):
            x = _LEFT + number % _PER_ROW * wide
            top = y + number // _PER_ROW * (_HEIGHT + 4)
            parts.append(_square(fabric, square, x, top, wide - 4))
            for node in square.nodes:
                places[node.guid] = (x + wide / 2 - 2, top + _HEIGHT / 2)
        y += -(-len(squares) // _PER_ROW) * (_HEIGHT + 4) + 26
    bundles = _bundles(fabric)
    drawn = bundles if len(bundles) <= PAIRS else [bundle for bundle in bundles if _is_bad(bundle)][:LINES]
    lines = [_line(fabric, links, places) for links in reversed(drawn)]
    reported = _sums(fabric, bundles, len(drawn))
    room = max(_LEFT + longest * wide, svg.legend_width(entries), 6.4 * max(map(len, reported)))
    for at, said in enumerate(reported):
        parts.append(svg.word(8, y + 14 + 18 * at, said, 12, "start"))
    y += 18 * len(reported) + 10
    # Lines pass behind the squares.
    parts = [svg.legend(8, 12, entries), *lines, *parts]
    return svg.picture(room + 20, y, parts, svg.said("picture.by_leaf", name=fabric.name), name)


def _bands(fabric: Fabric) -> list[tuple[str, list[Node]]]:
    """Rows of squares from the top down; the leaves by the rail that most of their HCAs are of."""
    found: list[tuple[str, list[Node]]] = [
        (svg.said("picture." + level), fabric.level(level)) for level in (CORE, SPINE)
    ]
    rails: dict[int, list[Node]] = {}
    for leaf in fabric.level(LEAF):
        counted = Counter(node.rail for node in fabric.by_leaf.get(leaf.guid, ()) if node.rail)
        # A leaf of several rails is of none: all hosts of a rack hang on it.
        rail = next(iter(counted)) if len(counted) == 1 else 0
        rails.setdefault(rail, []).append(leaf)
    for rail, leaves in sorted(rails.items(), key=lambda rail: (rail[0] == 0, rail[0])):
        said = svg.said("picture.leaf_rail", rail=rail) if rail else svg.said("picture.leaf")
        found.append((said, leaves))
    return [(label, nodes) for label, nodes in found if nodes]


def _squares(nodes: list[Node]) -> list[Square]:
    step = -(-len(nodes) // SQUARES)
    return [Square(tuple(nodes[at : at + step])) for at in range(0, len(nodes), step)]


def _square(fabric: Fabric, square: Square, x: float, y: float, width: float) -> str:
    links = {id(link): link for node in square.nodes for link in fabric.ends.get(node.guid, ())}
    counted = Counter(link.state for link in links.values())
    state = svg.worst(counted)
    adapters = sum(len(fabric.by_leaf.get(node.guid, ())) for node in square.nodes)
    states = ", ".join(f"{counted[entry]} {entry}" for entry in svg.ORDER if counted[entry])
    title = svg.text(f"{square.shown}: {len(links)} links ({states}), {adapters} adapters")
    look = svg.LOOKS[state]
    number = f"{adapters or len(links)}"
    first, second = number, look.sign
    if width > _NARROW:
        first, second = svg.short(square.shown, 14), f"{number} {look.sign}".rstrip()
    below = svg.word(x + width / 2, y + 27, second, 12) if second else ""
    return (
        f"<g class='node switch' data-switches='{len(square.nodes)}'>"
        f"{svg.box(x, y, width, _HEIGHT, look.fill, title)}"
        f"{svg.word(x + width / 2, y + (13 if below else 19), first)}{below}</g>"
    )


def _bundles(fabric: Fabric) -> list[list[Link]]:
    """The links of each pair of switches, those pairs first that are worst."""
    pairs: dict[tuple[str, str], list[Link]] = {}
    for link in fabric.links:
        if link.a != link.b and all(fabric.nodes[entry].is_switch for entry in (link.a, link.b)):
            pairs.setdefault((min(link.a, link.b), max(link.a, link.b)), []).append(link)
    return sorted(pairs.values(), key=lambda links: svg.ORDER.index(_state(links)))


def _state(links: list[Link]) -> str:
    return svg.worst(link.state for link in links)


def _is_bad(links: list[Link]) -> bool:
    return _state(links) != svg.OK


def _line(fabric: Fabric, links: list[Link], places: dict[str, tuple[float, float]]) -> str:
    """All links of one pair as one line; its words are those of the worst."""
    entry = min(links, key=lambda link: svg.ORDER.index(link.state))
    (ax, ay), (bx, by) = places[entry.a], places[entry.b]
    look = svg.LOOKS[entry.state]
    said = fabric.said(entry) + (f" (one of {len(links)} links)" if len(links) > 1 else "")
    good = entry.state == svg.OK
    paint = f"'{look.fill}' stroke-width='1'" if good else "'#1c1e21' stroke-width='1.6'"
    dashes = f" stroke-dasharray='{look.dashes}'" if look.dashes else ""
    return (
        f"<g class='bundle {entry.state}' data-links='{len(links)}'><title>{svg.text(said)}</title>"
        f"<path d='M{ax:g} {ay:g}L{bx:g} {by:g}' stroke={paint}{dashes}/></g>"
    )


def _sums(fabric: Fabric, bundles: list[list[Link]], drawn: int) -> list[svg.Said]:
    """What the squares cannot show: what there is, and how much of it is not well."""
    hosts = {node.host for node in fabric.nodes.values() if node.host}
    strangers = sum(not node.is_switch and not node.host for node in fabric.nodes.values())
    counted = Counter(link.state for link in fabric.links)
    # By their signs, which the legend explains in either language.
    bad = " ".join(f"{svg.LOOKS[entry].sign} {counted[entry]:,}" for entry in svg.ORDER[:-1] if counted[entry])
    found = [
        svg.said("picture.sums", hosts=len(hosts), links=len(fabric.links), bad=bad or 0),
        svg.said("picture.numbers"),
    ]
    if strangers:
        found.append(svg.said("picture.strangers", n=strangers))
    worse = sum(map(_is_bad, bundles))
    if worse and drawn < len(bundles):
        found.append(svg.said("picture.bundles", n=len(bundles), shown=min(drawn, worse), bad=worse))
    return found
