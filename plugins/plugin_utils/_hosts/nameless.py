# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a host without its name and address: by these alone no two hosts differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .contact import ADDRESS

# Where a name was; no text of a report holds it.
GAP = "\0"
# A word as short as this may be no name.
_SHORTEST = 3


def own(name: str, evidence: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """The words that are the host's own. ``evidence``: of its checks; of a host out of reach it has the address."""
    words = {name, *(entry.get(ADDRESS, "") for entry in evidence)}
    return frozenset(word for word in words if len(word) >= _SHORTEST and not word.isdigit())


def nameless(words: frozenset[str], text: str) -> str:
    """The text without these words."""
    return _pattern(words).sub(GAP, text) if any(word in text for word in words) else text


@lru_cache(maxsize=1024)
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(words)))})(?![\w-])")
