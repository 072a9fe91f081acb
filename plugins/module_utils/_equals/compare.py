# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold every leaf of equal parts against that of most of them; no I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Iterator, Mapping, Sequence

from .._data.drivers import DEPRECATED
from .._data.leaf_excuses import EXCUSES, FAULT, FIRST, MORE_IS_FINE, ROUGH, UNLESS, WITHIN
from .._parse._nvsmi import no_answer

# Of three, two are no majority that a site would follow.
LEAST = 4
# What a tool of which this part has other leaves does not tell. A file that is missing may be one that nobody may
# read, and a register one that was kept from us: those say nothing by silence.
NOTHING = "nothing"
TOOLS = ("nvidia-smi", "mlxlink", "mlnx_qos")
# Of these, those whose text may end early unseen; XML that does is no XML.
MAY_BE_CUT = ("mlxlink", "mlnx_qos")
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)(?:x| ?[A-Za-z]{1,6}(?:/s)?)?")


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
    return next((why for why, words in EXCUSES.items() if matches(words, name)), "")


@lru_cache(maxsize=4096)
def compared(leaf: str) -> bool:
    """Whether equals should have it alike, or it says who may be compared."""
    return leaf in WITHIN or is_state(leaf) or not excuse(leaf) or matches(FIRST, plain(leaf))


def is_state(leaf: str) -> bool:
    """Whether something is compared only among those that are alike in it."""
    return any(re.search(words, leaf) for words in WITHIN.values())


def outliers(parts: Sequence[Part], least: int = LEAST) -> list[Outlier]:
    """Who differs from most of at least so many equals, in what; without a clear majority nobody does."""
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(part.kind, []).append(part)
    found: list[Outlier] = []
    for members in groups.values():
        if len(members) >= least:
            found += _among(without_cuts(members), least)
    return found


def _among(members: list[Part], least: int) -> Iterator[Outlier]:
    leaves = list(
        dict.fromkeys(f"{source}/{path}" for part in members for source, text in part.texts.items() for path in text)
    )
    first = [leaf for leaf in leaves if matches(FIRST, plain(leaf))]
    unlike = [one for leaf in first for one in _outliers(leaf, members, least)]
    yield from (one for one in unlike if not excuse(one.leaf))
    apart = {one.part.subject for one in unlike}
    members = [part for part in members if part.subject not in apart]
    for leaf in leaves:
        if leaf not in first and (leaf in WITHIN or not excuse(leaf)):
            yield from _outliers(leaf, members, least)


def without_cuts(members: Sequence[Part]) -> list[Part]:
    """Without the texts that end before those of most do: they were cut, and say nothing by silence."""
    last = {source: _last(source, members) for source in MAY_BE_CUT if any(part.texts.get(source) for part in members)}
    return [
        replace(part, texts={name: text for name, text in part.texts.items() if last.get(name) in (None, *text)})
        for part in members
    ]


def _last(source: str, members: Sequence[Part]) -> str:
    """The leaf on which a source ends for most of those that it tells of."""
    return Counter(list(text)[-1] for part in members if (text := part.texts.get(source))).most_common(1)[0][0]


def _outliers(leaf: str, members: Sequence[Part], least: int) -> Iterator[Outlier]:
    source, _slash, path = leaf.partition("/")
    within = WITHIN.get(leaf)
    states: dict[tuple[str, ...], list[tuple[Part, str]]] = {}
    for part in members:
        text = part.texts.get(source)
        if text is not None and (path in text or source in TOOLS):
            state = tuple(f"{key}={text[key]}" for key in text if within and re.search(within, f"{source}/{key}"))
            if not (leaf in UNLESS and any(re.search(UNLESS[leaf], word) for word in state)):
                states.setdefault(state, []).append((part, text.get(path, NOTHING)))
    fine = matches(MORE_IS_FINE, plain(leaf))
    for mine in states.values():
        own = _about([anonymous(value, part.names) for part, value in mine], ROUGH.get(leaf, 0.0))
        counted = Counter(own)
        usual, times = counted.most_common(1)[0]
        if len(mine) < least or len(counted) < 2 or times < len(mine) - max(1, len(mine) // 4):
            continue
        if DEPRECATED in (one.lower() for one in counted):
            continue  # Of a driver's release, and no part's.
        for (part, value), mark in zip(mine, own):
            known = not no_answer(value) and (FAULT[0] not in leaf or value == FAULT[1])
            named = _named(usual, part.names)
            # Of a part whose own name is not known nobody can say whether it is its own.
            if mark != usual and known and "\0" not in named and not (fine and _more(value, usual)):
                yield Outlier(part, leaf, value, named, times, len(mine))


def _about(values: Sequence[str], rough: float) -> list[str]:
    """With the middle one in the place of every number that is less than so much of it away."""
    numbers = [_number(value) for value in values]
    known = sorted((found, value) for found, value in zip(numbers, values) if found is not None)
    if not rough or not known:
        return list(values)
    middle, word = known[len(known) // 2]
    return [
        word if found is not None and abs(found - middle) <= rough * middle else value
        for found, value in zip(numbers, values)
    ]


def _more(value: str, usual: str) -> bool:
    mine, theirs = _number(value), _number(usual)
    return mine is not None and theirs is not None and mine > theirs


def _number(value: str) -> float | None:
    """``16`` of ``16x``, ``650`` of ``650.00 W``; None where it is no number."""
    match = _NUMBER.fullmatch(value)
    return float(match.group(1)) if match else None


def anonymous(value: str, names: tuple[str, ...]) -> str:
    """With a mark in the place of the part's own names."""
    for at, name in enumerate(names):
        if name:
            value = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", f"\0{at}", value)
    return value


def _named(value: str, names: tuple[str, ...]) -> str:
    for at, name in enumerate(names):
        value = value.replace(f"\0{at}", name) if name else value
    return value


def matches(words: tuple[str, ...], name: str) -> bool:
    """Whether one of these patterns is found in a leaf as the tables match it."""
    return _pattern(words).search(name) is not None


@lru_cache(maxsize=None)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(words))
