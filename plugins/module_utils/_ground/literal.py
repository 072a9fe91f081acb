# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that a text must have for a pattern to match: to look for them takes a fiftieth of the time."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Callable, Iterable, Sequence, TypeVar

if sys.version_info >= (3, 11):
    from re import _constants, _parser  # type: ignore[attr-defined]
else:
    import sre_constants as _constants
    import sre_parse as _parser

T = TypeVar("T")

# A shorter word is in every other line.
_SHORTEST = 3


def sieve(items: Sequence[T], pattern_of: Callable[[T], str]) -> Callable[[str], list[T]]:
    """Which items' patterns may match a text, in the items' order: those with a word in it, and those without words."""
    places: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        for word in words(pattern_of(item)):
            places.setdefault(word, []).append(at)
    needed = tuple(places.items())
    wordless = [at for at, item in enumerate(items) if not words(pattern_of(item))]

    def may_match(text: str) -> list[T]:
        found = set(wordless)
        for word, at in needed:
            if word in text:
                found.update(at)
        return [items[at] for at in sorted(found)]

    return may_match


@lru_cache(maxsize=None)
def words(pattern: str) -> tuple[str, ...]:
    """Words of which every match has at least one; empty where the pattern tells of none.

    The longest run of plain letters, or of each alternative of a choice its own.
    """
    parsed = _parser.parse(pattern)
    return () if parsed.state.flags & re.IGNORECASE else _of(parsed)


def _of(items: Iterable[Any]) -> tuple[str, ...]:
    runs = [""]
    choices: list[list[tuple[str, ...]]] = []
    for kind, argument in items:
        if kind is _constants.LITERAL:
            runs[-1] += chr(argument)
            continue
        runs.append("")
        if kind is _constants.BRANCH:
            choices.append([_of(branch) for branch in argument[1]])
        elif kind is _constants.SUBPATTERN and not argument[1] & re.IGNORECASE:
            choices.append([_of(argument[3])])
        elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and argument[0] > 0:
            choices.append([_of(argument[2])])
    best = max(runs, key=len)
    found: list[tuple[str, ...]] = [(best,)] if len(best) >= _SHORTEST else []
    found += [tuple(word for some in choice for word in some) for choice in choices if all(choice)]
    return max(found, key=lambda some: min(map(len, some)), default=())
