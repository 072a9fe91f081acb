# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold every leaf of equal parts against that of most of them; no I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Iterator, Mapping, Sequence

from .._data.drivers import DEPRECATED
from .._data.host_leaves import PART_TOOLS
from .._data.leaf_excuses import EXCUSES, FAULT, FIRST, MEASURED, MORE_IS_FINE, PASSING, ROUGH, UNLESS, WITHIN
from .._parse._nvsmi import no_answer

# Of three, two are no majority that a site would follow.
LEAST = 4
# What a source that tells of this part does not tell, and what it could not.
NOTHING, UNREAD = "nothing", "unread"
# Of a whole host not every file is asked for, and of the parts of another host perhaps others: there silence says
# nothing.
OF_HOST = ("",)
FILES = (*OF_HOST, "rdma", "PCI", "net", "rdma_cm", "PCI config")
_DIGITS = re.compile(r"[-+]?\d[\d.,:/]*(?:[eE][-+]?\d+)?")
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


@lru_cache(maxsize=8192)
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


def outliers(parts: Sequence[Part], least: int = LEAST, silent: Sequence[str] = OF_HOST) -> list[Outlier]:
    """Who differs from most of at least so many equals, in what; without a clear majority nobody does.

    ``silent``: sources that say nothing by what they do not tell.
    """
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(part.kind, []).append(part)
    found: list[Outlier] = []
    for members in groups.values():
        if len(members) >= least:
            found += _among(without_cuts(members), least, silent)
    return found


def _among(members: list[Part], least: int, silent: Sequence[str]) -> Iterator[Outlier]:
    leaves = list(
        dict.fromkeys(f"{source}/{path}" for part in members for source, text in part.texts.items() for path in text)
    )
    first = [leaf for leaf in leaves if matches(FIRST, plain(leaf))]
    unlike = [one for leaf in first for one in _outliers(leaf, members, least, silent, "")]
    yield from (one for one in unlike if not excuse(one.leaf))
    apart = {one.part.subject for one in unlike}
    members = [part for part in members if part.subject not in apart]
    for leaf in leaves:
        if leaf not in first:
            yield from _outliers(leaf, members, least, silent, "" if leaf in WITHIN else excuse(leaf))


def tells(part: Part, leaf: str, silent: Sequence[str] = OF_HOST) -> str:
    """What a part has there: its value, NOTHING, or UNREAD where nobody can say."""
    source, _slash, path = leaf.partition("/")
    text = part.texts.get(source)
    return UNREAD if text is None else text.get(path, UNREAD if source in silent else NOTHING)


def form(value: str, reason: str) -> str:
    """What equals have alike of an excused value: that it is there, and whether it is a number of something."""
    if value == NOTHING or not reason:
        return value
    return _DIGITS.sub("#", value) if reason == MEASURED and _DIGITS.search(value) else "there"


def without_cuts(members: Sequence[Part]) -> list[Part]:
    """Without the texts that end before those of most do: they were cut, and say nothing by silence."""
    last = {source: _last(source, members) for source in PART_TOOLS if any(part.texts.get(source) for part in members)}
    return [
        replace(part, texts={name: text for name, text in part.texts.items() if last.get(name) in (None, *text)})
        for part in members
    ]


def _last(source: str, members: Sequence[Part]) -> str:
    """The leaf on which a source ends for most of those that it tells of."""
    return Counter(list(text)[-1] for part in members if (text := part.texts.get(source))).most_common(1)[0][0]


def _outliers(leaf: str, members: Sequence[Part], least: int, silent: Sequence[str], reason: str) -> Iterator[Outlier]:
    """``reason``: why values may differ; then their forms are compared."""
    source, _slash, path = leaf.partition("/")
    unsaid = UNREAD if source in silent else NOTHING
    told = [UNREAD if (text := part.texts.get(source)) is None else text.get(path, unsaid) for part in members]
    # Most leaves are the same in all.
    if len({*told} - {UNREAD}) < 2 or (reason and matches(PASSING, plain(leaf))):
        return
    within = WITHIN.get(leaf)
    states: dict[tuple[str, ...], list[tuple[Part, str]]] = {}
    for part, value in zip(members, told):
        if value != UNREAD:
            text = part.texts[source] if within else {}
            state = tuple(f"{key}={text[key]}" for key in text if within and re.search(within, f"{source}/{key}"))
            if not (leaf in UNLESS and any(re.search(UNLESS[leaf], word) for word in state)):
                states.setdefault(state, []).append((part, value))
    fine = matches(MORE_IS_FINE, plain(leaf))
    for mine in states.values():
        if len(mine) < least or len({value for _part, value in mine}) < 2:
            continue
        shown = [anonymous(value, part.names) for part, value in mine]
        own = _about([form(value, reason) for value in shown], ROUGH.get(leaf, 0.0))
        counted = Counter(own)
        usual, times = counted.most_common(1)[0]
        if len(counted) < 2 or times < len(mine) - max(1, len(mine) // 4):
            continue
        if DEPRECATED in (one.lower() for one in shown) or (usual == NOTHING and (reason or source in FILES)):
            continue  # Of a driver's release; of what is asked of one part alone, or that each calls by its own name.
        example = shown[own.index(usual)]
        for (part, value), mark in zip(mine, own):
            known = not no_answer(value) and (reason or FAULT[0] not in leaf or value == FAULT[1])
            named = _named(f"like {example}" if reason else usual, part.names)
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
        if name and name in value:
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
