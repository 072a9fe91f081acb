# SPDX-License-Identifier: GPL-3.0-or-later
"""The pings of one rail as a heat map: rows ask, columns are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._ground.dicts import as_list
from . import svg

SIDE = 64
CELLS = 400
_LEFT = 150
# Round trips by quarters, the quickest first: one hue, from light to dark.
_BLUES = ("#dceaf5", "#a9cde8", "#6aa9d6", "#2f78b3")
_SOME, _NONE = svg.LOOKS[svg.ERRORS], svg.LOOKS[svg.DOWN]


@dataclass(frozen=True)
class Square:
    """A matrix of report["ping_matrix"]; every list has as many rows and columns as ``rows``."""

    rail: str
    by: str
    rows: tuple[str, ...]
    size: tuple[int, ...]
    tested: Sequence[Sequence[int]]
    bad: Sequence[Sequence[int]]
    loss: Sequence[Sequence[float | None]]
    rtt: Sequence[Sequence[float | None]]

    def pairs(self, row: int, column: int) -> int:
        """How many pairs a cell stands for; 0 where a host would ask itself."""
        same = self.size[row] if row == column else 0
        return self.size[row] * self.size[column] - same


def read(raw: Mapping[str, Any]) -> Square | None:
    """None where it has not the shape of a matrix that can be drawn."""
    rows = tuple(map(str, as_list(raw.get("rows"))))
    tables = [_table(raw.get(name), len(rows)) for name in ("tested", "bad", "loss", "rtt_ms")]
    sizes = [entry for entry in as_list(raw.get("size")) if isinstance(entry, int) and entry > 0]
    if len(rows) > SIDE or len(sizes) != len(rows) or None in tables:
        return None
    tested, bad, loss, rtt = (table or [] for table in tables)
    rail, by = str(raw.get("rail") or ""), str(raw.get("by") or "")
    return Square(rail, by, rows, tuple(sizes), tested, bad, loss, rtt)


def _table(raw: Any, side: int) -> list[list[Any]] | None:
    table = [list(as_list(row)) for row in as_list(raw)]
    if len(table) != side or any(len(row) != side for row in table):
        return None
    numbers = all(entry is None or isinstance(entry, int | float) for row in table for entry in row)
    return table if numbers else None


def draw(square: Square, name: str, most: int = CELLS) -> str:
    """The picture; ``name`` as svg.picture has it, ``most`` cells are told one by one."""
    count = len(square.rows)
    side = 20 if count <= 32 else 11
    # Names of columns stand on end.
    top = 60 + (5.6 if side == 20 else 4) * min(16, max(map(len, square.rows), default=0))
    bounds = _quarters(square)
    cells: dict[str, list[tuple[int, int]]] = {}
    reported: list[tuple[int, int, svg.Look]] = []
    for row in range(count):
        for column in range(count):
            fill, look = _look(square, row, column, bounds, name)
            if look is not None:
                reported.append((row, column, look))
            if fill:
                cells.setdefault(fill, []).append((row, column))
    reported.sort(key=lambda entry: entry[2] is not _NONE)
    entries = _legend(bounds, name)
    half = (len(entries) + 1) // 2
    width = max(_LEFT + count * side + 20, svg.legend_width(entries[:half]) + 20, svg.legend_width(entries[half:]) + 20)
    parts = [svg.legend(8, 10, entries[:half]), svg.legend(8, 30, entries[half:])]
    parts += _names(square, side, top)
    parts += _cells(cells, count, side, top)
    parts += [_cell(square, *entry, side, top) for entry in reported[:most]]
    height = top + count * side + 14
    if len(reported) > most:
        said = svg.said("picture.signs", n=most, all=len(reported))
        parts.append(svg.word(8, height + 4, said, 11, "start"))
        height += 16
    label = svg.said("picture.pings", rail=square.rail)
    return svg.picture(width, height, parts, label, name)


def _cells(cells: dict[str, list[tuple[int, int]]], count: int, side: float, top: float) -> list[str]:
    """All cells by their fill; in a large square the most frequent one is the ground of it."""
    if side == 20:
        edge = "stroke='#ffffff' stroke-width='.5'"
        return [
            f"<path class='cells' d='{svg.runs(where, side, _LEFT, top)}' fill='{fill}' {edge}/>"
            for fill, where in cells.items()
        ]
    found = []
    # A line has no pattern, and of many cells only lines are short.
    plain = {fill: where for fill, where in cells.items() if not fill.startswith("url")}
    ground = max(plain, key=lambda fill: len(plain[fill]), default="")
    if ground:
        whole = count * side
        found.append(f"<path d='M{_LEFT} {top:g}h{whole:g}v{whole:g}h-{whole:g}z' fill='{ground}'/>")
    for fill, where in cells.items():
        if fill not in plain:
            drawn = svg.runs(where, side, _LEFT, top)
            found.append(f"<path class='cells' d='{drawn}' fill='{fill}'/>")
        elif fill != ground:
            found.append(svg.strokes(where, side, _LEFT, top, fill))
    return found


def _quarters(square: Square) -> list[float]:
    """The longest mean round trip of each quarter of the cells; [] where none was measured."""
    known = sorted(entry for row in square.rtt for entry in row if entry is not None)
    return [known[(len(known) - 1) * quarter // 4] for quarter in (1, 2, 3, 4)] if known else []


def _look(square: Square, row: int, column: int, bounds: list[float], name: str) -> tuple[str, svg.Look | None]:
    """The fill of a cell, and what it says where something is lost."""
    if not square.tested[row][column]:
        return (f"url(#{name})" if square.pairs(row, column) else "#dfe3e8"), None
    lost = square.loss[row][column] or 0.0
    if square.bad[row][column] or lost:
        look = _NONE if lost >= 100 else _SOME
        return look.fill, look
    average = square.rtt[row][column]
    if average is None or not bounds:
        return _BLUES[0], None
    return _BLUES[next(at for at, most in enumerate(bounds) if average <= most)], None


def _legend(bounds: list[float], name: str) -> list[tuple[str, str, str]]:
    blues: list[tuple[str, str, str]] = []
    for at, most in enumerate(bounds):
        if at == 0 or most > bounds[at - 1]:
            blues.append((_BLUES[at], "", svg.said("picture.answered_to", ms=f"{most:.3g}")))
    return [
        *(blues or [(_BLUES[0], "", svg.said("picture.answered"))]),
        (_SOME.fill, _SOME.sign, svg.said("picture.some_lost")),
        (_NONE.fill, _NONE.sign, svg.said("picture.no_answer")),
        (f"url(#{name})", "", svg.said("picture.untested")),
        ("#dfe3e8", "", svg.said("picture.itself")),
    ]


def _names(square: Square, side: float, top: float) -> list[str]:
    """Of rows and columns; what all of them share is said once."""
    size = 11 if side == 20 else 8
    rows, columns = [], []
    for at, row in enumerate(square.rows):
        middle = (at + 0.72) * side
        rows.append(f"<text x='{_LEFT - 6}' y='{top + middle:g}'>{svg.short(row, 22)}</text>")
        turned = f"translate({_LEFT + middle:g} {top - 6:g}) rotate(-60)"
        columns.append(f"<text transform='{turned}'>{svg.short(row, 16)}</text>")
    look = f"<g font-size='{size}' fill='#1c1e21'"
    return [f"{look} text-anchor='end'>", *rows, f"</g>{look}>", *columns, "</g>"]


def _cell(square: Square, row: int, column: int, look: svg.Look, side: float, top: float) -> str:
    tested, bad = square.tested[row][column], square.bad[row][column]
    said = f"{square.rows[row]} to {square.rows[column]}: {tested} of "
    said += f"{square.pairs(row, column)} pairs tested, {bad} bad, "
    said += f"{square.loss[row][column] or 0:g} % lost at most"
    x, y = _LEFT + column * side, top + row * side
    size = 12 if side == 20 else 9
    return (
        f"<g class='cell'>{svg.box(x, y, side, side, look.fill, svg.text(said))}"
        f"{svg.word(x + side / 2, y + 0.8 * side, look.sign, size)}</g>"
    )
