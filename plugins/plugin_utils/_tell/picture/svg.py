# SPDX-License-Identifier: GPL-3.0-or-later
"""Write SVG: every text escaped, nothing loaded, no script; states by colour and by sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from ..speech import speech

OK, SLOW, ERRORS, DOWN, MISCABLED = "ok", "slow", "errors", "down", "miscabled"
UNTESTED, NOTHING, UNKNOWN = "untested", "nothing", "unknown"
_FONT = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True)
class Look:
    """How one state looks: colours that the colour-blind tell apart (Okabe and Ito, 2008), a sign
    beside them, and the dashes of a line."""

    fill: str
    sign: str
    says: str
    dashes: str = ""


LOOKS = {
    OK: Look("#8ec3e6", "", "OK"),
    SLOW: Look("#f0e442", "S", "slower than both ends support", "8 3"),
    ERRORS: Look("#e69f00", "!", "errors are rising", "5 3"),
    MISCABLED: Look("#cc79a7", "M", "plugged into the wrong place", "2 3"),
    DOWN: Look("#d55e00", "X", "down", "1 4"),
    UNKNOWN: Look("#ffffff", "?", "unknown", "3 3"),
}
_T = speech.Speech()
# The worst first.
ORDER = (DOWN, MISCABLED, ERRORS, SLOW, UNKNOWN, OK)


class Said(str):
    """Words of the page, escaped. ``attributes``: by which its script says them in the other
    language."""

    attributes: str


def said(key: str, **values: object) -> Said:
    """The words of a key of words/pictures, as t() of the page has them."""
    found = Said(text(_T.plain(key, **values)))
    found.attributes = str(_T.on(key, **values))
    return found


def text(value: object) -> str:
    """A foreign text as SVG may hold it."""
    return escape(speech.text(value), quote=True)


def short(value: object, most: int) -> str:
    """The text, escaped, with its middle left out where it is longer than that."""
    said = str(value)
    if len(said) > most:
        half = (most - 1) // 2
        said = f"{said[: most - 1 - half]}\N{HORIZONTAL ELLIPSIS}{said[-half:] if half else ''}"
    return text(said)


def worst(states: Iterable[str]) -> str:
    """The state that is to be shown for all of these."""
    seen = set(states)
    return next((entry for entry in ORDER if entry in seen), UNKNOWN)


def word(x: float, y: float, said: str, size: int = 11, anchor: str = "middle", more: str = "") -> str:
    """A text that is escaped already."""
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{size}' text-anchor='{anchor}' fill='#1c1e21'"
        f"{more}{_attributes(said)}>{said}</text>"
    )


def _attributes(words: str) -> str:
    return f" {words.attributes}" if isinstance(words, Said) else ""


def box(x: float, y: float, width: float, height: float, fill: str, title: str = "", more: str = "") -> str:
    """A rectangle; ``title`` is escaped already."""
    said = f"<title>{title}</title>" if title else ""
    return (
        f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' fill='{fill}' "
        f"stroke='#5b6168' stroke-width='.7'{more}>{said}</rect>"
    )


def runs(cells: Iterable[tuple[int, int]], side: float, x: float, y: float) -> str:
    """Equal cells (row, column) as one path, neighbours of a row in one stroke."""
    found = []
    for row, mine in groupby(sorted(set(cells)), key=lambda cell: cell[0]):
        columns = [column for _row, column in mine]
        # What grows by one with its place is one run.
        for _unused, run in groupby(enumerate(columns), key=lambda column: column[1] - column[0]):
            members = [column for _at, column in run]
            width = len(members) * side
            left, top = x + members[0] * side, y + row * side
            found.append(f"M{left:g} {top:g}h{width:g}v{side:g}h-{width:g}z")
    return "".join(found)


def strokes(cells: Iterable[tuple[int, int]], side: float, x: float, y: float, fill: str) -> str:
    """The same in a fourth of the room: thick lines in a grid whose unit is a cell."""
    found = []
    for row, mine in groupby(sorted(set(cells)), key=lambda cell: cell[0]):
        found.append(f"M0 {row}")
        end = 0
        columns = [column for _row, column in mine]
        for _unused, run in groupby(enumerate(columns), key=lambda column: column[1] - column[0]):
            members = [column for _at, column in run]
            found.append(f"m{members[0] - end} 0h{len(members)}")
            end = members[-1] + 1
    return (
        f"<g transform='translate({x:g} {y + side / 2:g}) scale({side:g})'>"
        f"<path class='cells' d='{''.join(found)}' stroke='{fill}' fill='none'/></g>"
    )


def legend(x: float, y: float, entries: Sequence[tuple[str, str, str]]) -> str:
    """``entries``: fill, sign, words (escaped already); one beside the other."""
    parts = []
    for fill, sign, says in entries:
        parts.append(box(x, y, 14, 14, fill))
        if sign:
            parts.append(word(x + 7, y + 11, sign))
        parts.append(word(x + 20, y + 11, says, anchor="start"))
        x += 34 + 6.2 * len(says)
    return "".join(parts)


def legend_width(entries: Sequence[tuple[str, str, str]]) -> float:
    """How much room `legend` needs."""
    return sum(34 + 6.2 * len(says) for _unused, _unused, says in entries)


def picture(width: float, height: float, parts: Iterable[str], label: str, name: str) -> str:
    """The whole; ``label`` (escaped already) tells what it shows to those who do not see it.

    ``name`` makes its patterns its own among several pictures of one page.
    """
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{width:.0f}' "
        f"height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}' {_FONT}>"
        f"<title{_attributes(label)}>{label}</title>"
        f"<defs><pattern id='{name}' width='5' height='5' patternUnits='userSpaceOnUse'>"
        "<rect width='5' height='5' fill='#ffffff'/>"
        "<path d='M0 5L5 0' stroke='#9aa1a9' stroke-width='1'/></pattern></defs>"
        f"<rect width='100%' height='100%' fill='#ffffff'/>{''.join(parts)}</svg>"
    )
