# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and lists as sentences say them."""

from __future__ import annotations

from typing import Iterable, Sequence

_MOST = 6


def percent(share: float) -> str:
    """Of a share, 1 is all: "34 %"."""
    return f"{100 * share:.0f} %"


def span(seconds: float) -> str:
    """A time with its unit: "1.27 s", "85 ms", "12 us"."""
    if abs(seconds) >= 1:
        return f"{seconds:.2f} s"
    if abs(seconds) >= 0.001:
        return f"{1000 * seconds:.0f} ms"
    return f"{1e6 * seconds:.0f} us"


def hours(seconds: float) -> str:
    """A long time: "6.2 h", "14 min"."""
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def capital(text: str) -> str:
    """The beginning of a sentence."""
    return text[:1].upper() + text[1:]


def times(factor: float) -> str:
    """ "1.4 times" """
    return f"{factor:.1f} times"


def order(rank: str) -> tuple[int, int, str]:
    """Ranks in the order of their numbers; what is no number comes last."""
    return (0, int(rank), "") if rank.isdecimal() and len(rank) < 12 else (1, 0, rank)


def listed(names: Iterable[str]) -> str:
    """ "3, 4 and 7"; of many the first six."""
    all_of_them = sorted(set(names), key=order)
    shown, left = all_of_them[:_MOST], len(all_of_them) - _MOST
    if left > 0:
        return f"{', '.join(shown)} and {left} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def ranks(names: Sequence[str], hosts: Sequence[str] = ()) -> str:
    """ "rank 3 (node1)", "ranks 3 and 4 (node1)"; a rank without a name is not listed."""
    names = [name for name in names if name]
    if not names:
        return "a rank that no text names"
    told = sorted({host for host in hosts if host})
    where = f" ({listed(told)})" if told else ""
    return f"rank{'s' if len(set(names)) > 1 else ''} {listed(names)}{where}"


def nth(number: int) -> str:
    """ "2nd", "13th"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def many(count: int, thing: str) -> str:
    """ "1 rank", "2 ranks"."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
