# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold every leaf of equal parts against that of most of them; no I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Iterator, Mapping, Sequence

from .._data.leaf_excuses import EXCUSES, FIRST, MORE_IS_FINE, WITHIN
from .._parse._nvsmi import number

# Of three, two are no majority that a site would follow.
LEAST = 4
# What a tool of which this part has other leaves does not tell. A file that is missing may be one that nobody may
# read, and a register one that was kept from us: those say nothing by silence.
NOTHING = "nothing"
TOOLS = ("nvidia-smi", "mlxlink", "mlnx_qos")
# Of these, those whose text may end early unseen; XML that does is no XML.
MAY_BE_CUT = ("mlxlink", "mlnx_qos")


@dataclass(frozen=True)
class Part:
    """One of several equal parts. ``kind``: who its equals are. ``names``: the words by which it is itself.

    ``texts``: its leaves, by source and path; a source that could not be read is not there.
    """

    kind: tuple[str, ...]
    subject: str
    names: tuple[str, ...]
    texts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Outlier:
    """What a part has instead of what ``times`` of ``compared`` equals have; ``leaf``: SOURCE/PATH."""

    part: Part
    leaf: str
    value: str
    usual: str
    times: int
    compared: int

    @property
    def source(self) -> str:
        return self.leaf.partition("/")[0]


def plain(leaf: str) -> str:
    """A leaf's path as the tables match it."""
    return re.sub(r"[^a-z0-9/#]+", "_", leaf.lower())


@lru_cache(maxsize=4096)
def excuse(leaf: str) -> str:
    """Why it says nothing that parts differ in this; "" where it does."""
    name = plain(leaf)
    return next((why for why, words in EXCUSES.items() if _any(words, name)), "")


def outliers(parts: Sequence[Part]) -> list[Outlier]:
    """Who differs from most of at least four equals, in what; without a clear majority nobody does."""
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(part.kind, []).append(part)
    found: list[Outlier] = []
    for members in groups.values():
        if len(members) >= LEAST:
            found += _among([_without_cuts(part, members) for part in members])
    return found


def _among(members: list[Part]) -> Iterator[Outlier]:
    leaves = list(
        dict.fromkeys(f"{source}/{path}" for part in members for source, text in part.texts.items() for path in text)
    )
    apart = {one.part.subject for leaf in leaves if _any(FIRST, plain(leaf)) for one in _outliers(leaf, members, ())}
    members = [part for part in members if part.subject not in apart]
    for leaf in leaves:
        if leaf in WITHIN or not excuse(leaf):
            yield from _outliers(leaf, members, WITHIN.get(leaf, ()))


def _without_cuts(part: Part, members: Sequence[Part]) -> Part:
    """Without the texts that end before those of most do: they were cut, and say nothing by silence."""
    texts = {
        source: text
        for source, text in part.texts.items()
        if source not in MAY_BE_CUT or _last(source, members) in text
    }
    return replace(part, texts=texts)


def _last(source: str, members: Sequence[Part]) -> str:
    """The leaf on which a source ends for most of those that it tells of."""
    return Counter(list(text)[-1] for part in members if (text := part.texts.get(source))).most_common(1)[0][0]


def _outliers(leaf: str, members: Sequence[Part], within: tuple[str, ...]) -> Iterator[Outlier]:
    source, _slash, path = leaf.partition("/")
    states: dict[tuple[str, ...], list[tuple[Part, str]]] = {}
    for part in members:
        text = part.texts.get(source)
        if text is not None and (path in text or source in TOOLS):
            state = tuple(text.get(key, "") for key in within)
            states.setdefault(state, []).append((part, text.get(path, NOTHING)))
    fine = _any(MORE_IS_FINE, plain(leaf))
    for mine in states.values():
        counted = Counter(_anonymous(value, part.names) for part, value in mine)
        usual, times = counted.most_common(1)[0]
        if len(mine) < LEAST or len(counted) < 2 or times < len(mine) - max(1, len(mine) // 4):
            continue
        for part, value in mine:
            if _anonymous(value, part.names) != usual and not (fine and _more(value, usual)):
                yield Outlier(part, leaf, value, _named(usual, part.names), times, len(mine))


def _more(value: str, usual: str) -> bool:
    mine, theirs = number(value), number(usual)
    return mine is not None and theirs is not None and mine > theirs


def _anonymous(value: str, names: tuple[str, ...]) -> str:
    """With a mark in the place of the part's own names."""
    for at, name in enumerate(names):
        value = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", f"\0{at}", value)
    return value


def _named(value: str, names: tuple[str, ...]) -> str:
    for at, name in enumerate(names):
        value = value.replace(f"\0{at}", name)
    return value


def _any(words: tuple[str, ...], name: str) -> bool:
    return _pattern(words).search(name) is not None


@lru_cache(maxsize=None)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(words))
