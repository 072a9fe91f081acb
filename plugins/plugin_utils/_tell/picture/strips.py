# SPDX-License-Identifier: GPL-3.0-or-later
"""One distribution as a strip: a dot for each host from the least to the most, those apart with a sign."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from . import svg

# Dots of hosts that stand apart that are drawn one by one.
NAMED = 60
_WIDTH, _LEFT, _HEIGHT = 560.0, 70.0, 30.0


def draw(
    values: Mapping[str, float], apart: Collection[str], says: Callable[[float], str], label: str, name: str
) -> str:
    """``apart``: the farthest first; ``says``: a value in words. ``label`` (escaped) and ``name`` as svg.picture."""
    low, high = min(values.values()), max(values.values())
    span = high - low or 1.0
    places = {host: _LEFT + (_WIDTH - 20) * (value - low) / span for host, value in values.items()}
    usual = sorted({round(x, 1) for host, x in places.items() if host not in set(apart)})
    dots = "".join(f"M{x:g} 12h.01" for x in usual)
    parts = [
        svg.word(_LEFT - 10, 16, svg.text(says(low)), 10, "end"),
        svg.word(_LEFT + _WIDTH, 16, svg.text(says(high)), 10, "start"),
        f"<path d='M{_LEFT - 6:g} 12h{_WIDTH - 8:g}' stroke='#9aa1a9'/>",
        f"<path d='{dots}' stroke='#2f7fb8' stroke-opacity='.6' stroke-width='7' stroke-linecap='round'/>",
    ]
    for host in list(apart)[:NAMED]:
        title = svg.text(f"{host}: {says(values[host])}")
        parts.append(f"<g class='apart'><title>{title}</title>{svg.word(places[host], 17, '&#9670;', 13)}</g>")
    return svg.picture(_LEFT + _WIDTH + 70, _HEIGHT, parts, label, name)
