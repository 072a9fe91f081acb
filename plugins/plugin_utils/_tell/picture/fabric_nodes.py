# SPDX-License-Identifier: GPL-3.0-or-later
"""A small fabric as a picture: every switch, every host with its HCAs, every cable."""

from __future__ import annotations

from collections.abc import Iterable

from . import svg
from .model import LEVELS, Fabric, Link, Node

# Beyond these it is no picture any more.
HOSTS = 16
SWITCHES = 40
LINKS = 400
_GAP, _ROW, _HEIGHT = 24, 110, 30
_SQUARE = 16
_LETTER = 6.4

Places = dict[str, tuple[float, float]]


def fits(fabric: Fabric) -> bool:
    """Whether all of it can be drawn."""
    switches = sum(node.is_switch for node in fabric.nodes.values())
    return switches <= SWITCHES and len(_owners(fabric)) <= HOSTS and len(fabric.links) <= LINKS


def draw(fabric: Fabric, name: str) -> str:
    """The picture; ``name`` as svg.picture has it."""
    rows = [row for row in (_switches(fabric.level(level)) for level in LEVELS) if row]
    owners = _owners(fabric)
    hosts = [(_width(owner, mine), owner, mine) for owner, mine in owners.items()]
    widths = [sum(width + _GAP for width, _unused in row) for row in rows]
    used = svg_entries({link.state for link in fabric.links})
    whole = max([*widths, sum(width + _GAP for width, *_unused in hosts), svg.legend_width(used), 300])
    whole += _GAP
    places: Places = {}
    boxes: list[str] = []
    y = 50.0
    for row, width in zip(rows, widths, strict=True):
        x = (whole - width + _GAP) / 2
        for size, node in row:
            places[node.guid] = (x + size / 2, y + _HEIGHT / 2)
            boxes.append(_switch(node, x, y, size))
            x += size + _GAP
        y += _ROW
    x = (whole - sum(width + _GAP for width, *_unused in hosts) + _GAP) / 2
    for width, owner, mine in hosts:
        boxes.append(_host(owner, mine, x, y, width, places))
        x += width + _GAP
    height = y + (70 if hosts else 0)
    parts = [svg.legend(_GAP / 2, 12, used), *_lines(fabric, places), *boxes]
    return svg.picture(whole, height, parts, svg.said("picture.fabric", name=fabric.name), name)


def svg_entries(states: Iterable[str]) -> list[tuple[str, str, str]]:
    """The legend of these states, the best first."""
    seen = set(states) | {svg.OK}
    return [
        (svg.LOOKS[entry].fill, svg.LOOKS[entry].sign, svg.said("picture." + entry))
        for entry in reversed(svg.ORDER)
        if entry in seen
    ]


def _owners(fabric: Fabric) -> dict[str, list[Node]]:
    """Adapters by host; one of nobody by itself."""
    found: dict[str, list[Node]] = {}
    for node in fabric.nodes.values():
        if not node.is_switch:
            found.setdefault(f"h {node.host}" if node.host else f"g {node.guid}", []).append(node)
    return found


def _switches(nodes: Iterable[Node]) -> list[tuple[float, Node]]:
    return [(max(60.0, min(len(node.shown), 22) * _LETTER + 12), node) for node in nodes]


def _width(owner: str, nodes: list[Node]) -> float:
    label = nodes[0].host or nodes[0].shown
    return max(len(nodes) * (_SQUARE + 4) + 8, min(len(label), 18) * _LETTER + 12)


def _switch(node: Node, x: float, y: float, width: float) -> str:
    title = svg.text(f"{node.level or node.type} {node.shown}, {node.guid}")
    frame = svg.box(x, y, width, _HEIGHT, "#e6e9ed", title, " rx='4'")
    return f"<g class='node switch'>{frame}{svg.word(x + width / 2, y + 19, svg.short(node.shown, 22))}</g>"


def _host(owner: str, nodes: list[Node], x: float, y: float, width: float, places: Places) -> str:
    """A box with a square for each HCA, at which its cable ends."""
    known = bool(nodes[0].host)
    # Nobody's own has a dashed frame and says so.
    more = "" if known else " stroke-dasharray='4 3'"
    said = svg.short(nodes[0].host or nodes[0].shown, 18)
    parts = [svg.box(x, y, width, 44, "#f7f8fa", "", more)]
    left = x + (width - len(nodes) * (_SQUARE + 4) + 4) / 2
    for node in nodes:
        where = f"rail {node.rail}" if node.rail else "no rail"
        if not known:
            where = "of no host of the inventory"
        title = svg.text(f"{node.shown}, {where}, {node.guid}")
        parts.append(f"<g class='node adapter'>{svg.box(left, y + 4, _SQUARE, _SQUARE, '#cfd6de', title)}")
        number = str(node.rail) if node.rail else "" if known else "?"
        parts.append(f"{svg.word(left + _SQUARE / 2, y + 16, number, 10)}</g>")
        places[node.guid] = (left + _SQUARE / 2, y + 4)
        left += _SQUARE + 4
    parts.append(svg.word(x + width / 2, y + 36, said))
    return "".join(parts)


def _lines(fabric: Fabric, places: Places) -> list[str]:
    """Every cable; parallel ones side by side, those that are not well on top."""
    beside: dict[tuple[str, str], int] = {}
    found: list[tuple[int, str]] = []
    for link in fabric.links:
        pair = (min(link.a, link.b), max(link.a, link.b))
        number = beside[pair] = beside.get(pair, -1) + 1
        shift = (number + 1) // 2 * 5 * (1 if number % 2 else -1)
        rank = svg.ORDER.index(link.state)
        found.append((-rank, _line(fabric, link, places[link.a], places[link.b], shift)))
    return [line for _unused, line in sorted(found, key=lambda item: item[0])]


def _line(fabric: Fabric, link: Link, a: tuple[float, float], b: tuple[float, float], shift: float) -> str:
    look = svg.LOOKS[link.state]
    dashes = f" stroke-dasharray='{look.dashes}'" if look.dashes else ""
    colour = look.fill if link.state != svg.UNKNOWN else "#5b6168"
    wide = 2 if link.state == svg.OK else 3.5
    x, y = (a[0] + b[0]) / 2 + shift, (a[1] + b[1]) / 2
    sign = ""
    if look.sign:
        sign = (
            f"<circle cx='{x:g}' cy='{y:g}' r='8' fill='{look.fill}' stroke='#1c1e21'/>{svg.word(x, y + 4, look.sign)}"
        )
    return (
        f"<g class='link {link.state}'><title>{svg.text(fabric.said(link))}</title>"
        f"<path d='M{a[0] + shift:g} {a[1]:g}L{b[0] + shift:g} {b[1]:g}' fill='none' "
        f"stroke='{colour}' stroke-width='{wide}'{dashes}/>{sign}</g>"
    )
