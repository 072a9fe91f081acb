# SPDX-License-Identifier: GPL-3.0-or-later
"""The rails of many hosts as one picture: a column for each host, a row for each rail, in bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import svg

# Hosts of a band, bands, and cells that are told one by one.
BAND = 100
BANDS = 24
CELLS = 300
_SIDE, _LEFT, _TOP, _HEAD, _GAP = 8, 110, 8, 14, 12
# By look: the fill, and a sign where it is no good one. "" is no such port.
LOOKS: Mapping[str, tuple[str, str]] = {
    "ok": (svg.LOOKS[svg.OK].fill, ""),
    "fail": (svg.LOOKS[svg.DOWN].fill, "X"),
    "odd": (svg.LOOKS[svg.ERRORS].fill, "\N{NOT EQUAL TO}"),
    "unknown": (svg.LOOKS[svg.UNKNOWN].fill, "?"),
    "none": ("", "-"),
    "waived": (svg.LOOKS[svg.SLOW].fill, "w"),
    "": ("#dfe3e8", ""),
}


def draw(hosts: Sequence[str], rails: Sequence[str], looks: Sequence[Sequence[str]], label: str, name: str) -> str:
    """``looks``: host by rail, of LOOKS; ``label`` (escaped) and ``name`` as svg.picture has them.

    Hosts beyond BANDS of BAND are not drawn.
    """
    seen = {look for mine in looks for look in mine}
    entries = [
        (fill or f"url(#{name})", sign, svg.said("rails." + (look or "absent")))
        for look, (fill, sign) in LOOKS.items()
        if look in seen
    ]
    parts: list[str] = []
    reported: list[tuple[str, str, str, float, float]] = []
    high = len(rails) * _SIDE
    y = float(_TOP + 24)
    for start in range(0, min(len(hosts), BAND * BANDS), BAND):
        mine = hosts[start : start + BAND]
        names = svg.short(mine[0], 40)
        if len(mine) > 1:
            names += f" \N{HORIZONTAL ELLIPSIS} {svg.short(mine[-1], 40)}"
        parts.append(svg.word(_LEFT, y + 10, names, 10, "start"))
        y += _HEAD
        cells: dict[str, list[tuple[int, int]]] = {}
        for at, host in enumerate(mine):
            for row, look in enumerate(looks[start + at]):
                fill, sign = LOOKS.get(look, LOOKS["none"])
                cells.setdefault(fill or f"url(#{name})", []).append((row, at))
                if sign:
                    reported.append((host, rails[row], sign, _LEFT + at * _SIDE, y + row * _SIDE))
        parts += [_filled(where, fill, y) for fill, where in cells.items()]
        parts += [
            svg.word(_LEFT - 5, y + (row + 0.85) * _SIDE, svg.short(rail, 18), 8, "end")
            for row, rail in enumerate(rails)
        ]
        parts.append(_frame(len(mine), high, y))
        y += high + _GAP
    parts += [svg.legend(8, _TOP, entries), *(_sign(*entry) for entry in reported[:CELLS])]
    if len(reported) > CELLS:
        parts.append(svg.word(8, y + 8, svg.said("picture.signs", n=CELLS, all=len(reported)), 11, "start"))
        y += 18
    width = max(_LEFT + min(BAND, len(hosts)) * _SIDE, svg.legend_width(entries)) + 12
    return svg.picture(width, y, parts, label, name)


def _filled(where: list[tuple[int, int]], fill: str, y: float) -> str:
    if fill.startswith("url"):
        return f"<path class='cells' d='{svg.runs(where, _SIDE, _LEFT, y)}' fill='{fill}'/>"
    return svg.strokes(where, _SIDE, _LEFT, y, fill)


def _frame(count: int, high: float, y: float) -> str:
    """Around a band: what is white has an end, too."""
    return (
        f"<path d='M{_LEFT} {y:g}h{count * _SIDE}v{high:g}h-{count * _SIDE}z' fill='none' "
        "stroke='#5b6168' stroke-width='.7'/>"
    )


def _sign(host: str, rail: str, sign: str, x: float, y: float) -> str:
    title = svg.text(f"{host} {rail}")
    at = f"x='{x:g}' y='{y:g}' width='{_SIDE}' height='{_SIDE}'"
    return (
        f"<g class='cell'><rect {at} fill='#fff' fill-opacity='0'><title>{title}</title></rect>"
        f"{svg.word(x + _SIDE / 2, y + 7, sign, 8)}</g>"
    )
