# SPDX-License-Identifier: GPL-3.0-or-later
"""Links as a heat map: a row for each switch with a link that is not well, a column for each port."""

from __future__ import annotations

from . import svg
from .fabric_nodes import svg_entries
from .model import CORE, LEAF, SPINE, Fabric, Link, Node

# Rows, and cells that are told one by one.
ROWS = 24
CELLS = 400
_SIDE, _LEFT, _TOP = 14, 190, 66
_SMALL = 8


def draw(fabric: Fabric, name: str) -> str:
    """The picture; ``name`` as svg.picture has it."""
    rows, left_out = _rows(fabric)
    side = _SIDE if len(rows) <= 64 else _SMALL
    most = max((_port(row.guid, link) for row in rows for link in _links(fabric, row)), default=0)
    entries = [*svg_entries({link.state for link in fabric.links}), ("#ffffff", "", svg.said("picture.no_cable"))]
    good: list[tuple[int, int]] = []
    reported: list[tuple[int, int, Link]] = []
    for at, node in enumerate(rows):
        for link in _links(fabric, node):
            column = _port(node.guid, link) - 1
            if link.state == svg.OK:
                good.append((at, column))
            else:
                reported.append((at, column, link))
    reported.sort(key=lambda cell: svg.ORDER.index(cell[2].state))
    width = max(_LEFT + most * side + 20, svg.legend_width(entries) + 20, 560)
    notes = _notes(len(reported), left_out)
    height = _TOP + len(rows) * side + 16 + 16 * len(notes)
    parts = [
        svg.legend(8, 12, entries),
        svg.box(_LEFT, _TOP, most * side, len(rows) * side, "#ffffff"),
        *_heads(most, side),
        *(_label(node, at, side) for at, node in enumerate(rows)),
        _path(good, svg.LOOKS[svg.OK].fill, side),
    ]
    for state in svg.ORDER:
        # What is not told one by one has its colour all the same.
        rest = [(at, column) for at, column, link in reported[CELLS:] if link.state == state]
        if rest:
            parts.append(_path(rest, svg.LOOKS[state].fill, side))
    parts += [_cell(fabric, at, column, link, side) for at, column, link in reported[:CELLS]]
    for at, said in enumerate(notes):
        parts.append(svg.word(8, height - 16 * (len(notes) - at) + 4, said, 11, "start"))
    label = svg.said("picture.by_port", name=fabric.name)
    return svg.picture(width, height, parts, label, name)


def _rows(fabric: Fabric) -> tuple[list[Node], int]:
    """Leaves, spines, core with something wrong, the worst first; and how many are well or left out."""
    switches = [node for level in (LEAF, SPINE, CORE) for node in fabric.level(level)]
    worst = {node.guid: svg.worst([svg.OK, *(link.state for link in _links(fabric, node))]) for node in switches}
    odd = [node for node in switches if worst[node.guid] != svg.OK]
    odd.sort(key=lambda node: svg.ORDER.index(worst[node.guid]))
    return odd[:ROWS], len(switches) - len(odd[:ROWS])


def _links(fabric: Fabric, node: Node) -> list[Link]:
    return fabric.ends.get(node.guid, [])


def _port(guid: str, link: Link) -> int:
    """The port at which the link is plugged in there; of a loop the first."""
    return max(1, link.a_port if link.a == guid else link.b_port)


def _heads(most: int, side: float) -> list[str]:
    every = 1 if side == _SIDE and most <= 40 else 8
    columns = [number for number in range(1, most + 1) if number == 1 or number % every == 0]
    heads = [svg.word(_LEFT + (column - 0.5) * side, _TOP - 5, str(column), 9) for column in columns]
    return [*heads, svg.word(_LEFT, _TOP - 17, svg.said("picture.port"), 11, "start")]


def _label(node: Node, at: int, side: float) -> str:
    size = 11 if side == _SIDE else 7
    said = f"{svg.short(node.shown, 24 if size == 11 else 38)}"
    title = f"<title>{svg.text(f'{node.level or node.type} {node.shown}, {node.guid}')}</title>"
    y = _TOP + (at + 0.78) * side
    return f"<g class='row'>{title}{svg.word(_LEFT - 6, y, said, size, 'end')}</g>"


def _path(cells: list[tuple[int, int]], fill: str, side: float) -> str:
    if not cells:
        return ""
    if side != _SIDE:
        return svg.strokes(cells, side, _LEFT, _TOP, fill)
    return (
        f"<path class='cells' d='{svg.runs(cells, side, _LEFT, _TOP)}' fill='{fill}' "
        "stroke='#ffffff' stroke-width='.5'/>"
    )


def _cell(fabric: Fabric, at: int, column: int, link: Link, side: float) -> str:
    look = svg.LOOKS[link.state]
    x, y = _LEFT + column * side, _TOP + at * side
    return (
        f"<g class='cell {link.state}'>"
        f"{svg.box(x, y, side, side, look.fill, svg.text(fabric.said(link)))}"
        f"{svg.word(x + side / 2, y + 0.8 * side, look.sign, 11 if side == _SIDE else 7)}</g>"
    )


def _notes(told: int, left_out: int) -> list[svg.Said]:
    notes = []
    if told > CELLS:
        notes.append(svg.said("picture.signs", n=CELLS, all=told))
    if left_out:
        notes.append(svg.said("picture.more_switches", n=left_out))
    return notes
