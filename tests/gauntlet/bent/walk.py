# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend every field of every source of the healthy nodes, in every way, and see what the checks say."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.gauntlet.bent.fields import KINDS, Place, at, bent, places, replaced
from tests.gauntlet.bent.node import SWITCH, Bending, Healthy, Told, asked_by, writing
from tests.gauntlet.bent.sources import kind_of_path
from tests.gauntlet.tree import Tree

# A port that is a rail on one board is storage on another.
_BOARDS = 4
# A file of more characters or of several lines is no value: a parser reads it, or nothing bends it.
_LONG = 200
# Of many places those so many sixths of the way are bent alone, in this order.
_SPREAD, _ORDER = 6, (2, 0, 6, 4, 1, 3, 5)
ODD, ALIKE = "the odd one out", "all alike"


class Way(NamedTuple):
    """How a field is bent: by KINDS, and in how many of its places."""

    kind: str
    many: str


class Attempt(NamedTuple):
    """Places that are bent together; several attempts are of the same way."""

    way: Way
    bending: Bending


@dataclass
class Field:
    """A field of a source on the first board that has it. ``name`` is "" where the file is the value."""

    source: str
    name: str
    areas: tuple[str, ...]
    attempts: list[Attempt] = dataclasses.field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        return self.source, self.name


@dataclass
class Result:
    """What came of a field. ``found``: by way, the checks that said that something is wrong.

    ``equals``: those of the comparison with equal hosts, asked where no other did. ``other``: checks
    that said something else.
    """

    field: Field
    board: str
    found: dict[Way, frozenset[str]] = dataclasses.field(default_factory=dict)
    equals: frozenset[str] = frozenset()
    other: set[str] = dataclasses.field(default_factory=set)
    raised: set[str] = dataclasses.field(default_factory=set)

    @property
    def is_found(self) -> bool:
        """Whether any check said that something is wrong."""
        return bool(self.judged_by or self.equals)

    @property
    def judged_by(self) -> frozenset[str]:
        return frozenset().union(*self.found.values())


def fields(healthy: Healthy) -> list[Field]:
    """Every field of a node, with all attempts at bending it."""
    return [*_of_parsers(healthy), *_of_files(healthy)]


def walk(boards: Iterable[str]) -> Iterator[Result]:
    """Every field once: on the first of these boards where a check finds it, of as many as are tried."""
    came: dict[tuple[str, str], Result] = {}
    tried: Counter[tuple[str, str]] = Counter()
    for board in boards:
        healthy = Healthy(board)
        for each in fields(healthy):
            known = came.get(each.key)
            if not each.attempts or tried[each.key] == _BOARDS or (known is not None and known.is_found):
                continue
            tried[each.key] += 1
            now = result(healthy, each, among_equals=known is None)
            if known is None or now.is_found:
                came[each.key] = now
    yield from came.values()


def result(healthy: Healthy, each: Field, *, among_equals: bool = True) -> Result:
    """What the checks say of this field, bent in every way; what no other finds, among equal hosts."""
    came = Result(each, healthy.board)
    for way, bending in each.attempts:
        if not came.found.get(way):
            _note(came, way, healthy.alone(each.areas, bending))
    if among_equals and not came.judged_by:
        for bending in _for_equals(each):
            came.equals = came.equals or healthy.among_equals(bending).wrong
    return came


def _note(came: Result, way: Way, told: Told) -> None:
    came.found[way] = told.wrong
    came.other |= told.other
    if told.raised:
        came.raised.add(told.raised)


def _for_equals(each: Field) -> list[Bending]:
    """One attempt of each kind: whole hosts differ in all places alike."""
    by_kind = {way.kind: bending for way, bending in each.attempts if way.many == ODD}
    by_kind |= {way.kind: bending for way, bending in each.attempts if way.many == ALIKE}
    return list(by_kind.values())


def _of_parsers(healthy: Healthy) -> Iterator[Field]:
    for parser, calls in sorted(healthy.heard.items()):
        answers = {repr(value): value for _area, value in calls}
        by_field: dict[str, list[tuple[str, Place]]] = {}
        for text, value in answers.items():
            for place in places(value):
                by_field.setdefault(place.field, []).append((text, place))
        areas = asked_by(area for area, _value in calls)
        for name, where in by_field.items():
            attempts = [
                Attempt(Way(kind, many), _answering(parser, chosen, kind))
                for kind in KINDS
                for many, chosen in _choices([(t, p) for t, p in where if bent(p.value, kind, p.hint) != p.value])
            ]
            yield Field(parser, name, areas, attempts)


def _choices(able: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Places that are bent alone, until a check finds it; then all together."""
    if able:
        last = len(able) - 1
        for chosen in dict.fromkeys(last * at // _SPREAD for at in _ORDER):
            yield ODD, [able[chosen]]
    if len(able) > 1:
        yield ALIKE, able


def _answering(parser: str, chosen: list[tuple[str, Place]], kind: str) -> Bending:
    by_answer: dict[str, list[Place]] = {}
    for text, place in chosen:
        by_answer.setdefault(text, []).append(place)

    def bend(value: Any) -> Any:
        for place in by_answer.get(repr(value), ()):
            value = replaced(value, place.steps, bent(at(value, place.steps), kind, place.hint))
        return value

    def begin(_tree: Tree) -> AbstractContextManager[None]:
        return SWITCH.bending(parser, bend)

    return begin


def _of_files(healthy: Healthy) -> Iterator[Field]:
    kinds: dict[str, list[str]] = {}
    for path in sorted(healthy.read):
        kinds.setdefault(kind_of_path(path), []).append(path)
    for name, paths in sorted(kinds.items()):
        texts = {path: healthy.tree.read(path).strip() for path in paths}
        if any(len(text) > _LONG or "\n" in text for text in texts.values()):
            continue
        attempts = [
            Attempt(Way(kind, many), writing({path: bent(texts[path], kind, str) for path in chosen}))
            for kind in KINDS
            for many, chosen in _choices([path for path, text in texts.items() if bent(text, kind, str) != text])
        ]
        yield Field(name, "", asked_by(area for path in paths for area in healthy.read[path]), attempts)
