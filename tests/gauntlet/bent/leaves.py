# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend each leaf of what a node tells of one part, and see whether a check of the host or the fleet names that part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple

from ansible_collections.ibready.cluster.plugins.module_utils._areas.area import Area
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import look
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import ALL
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import consistency
from tests.gauntlet import render
from tests.gauntlet.bent import parts, texts
from tests.gauntlet.bent.parts import Part, Spot
from tests.unit import fleets

SEED = 44
BOARDS = ("hgx-h100-8", "hgx-h200-8-roce", "hgx-a100-8", "hgx-b200-8-roce", "gb200-nvl72-node", "l40s-8-roce")
_COUNTED = (FAIL, UNKNOWN)
ANYTHING = "anything"
Said = frozenset[tuple[str, ...]]


class Way(NamedTuple):
    """A leaf of a board, and how it is bent."""

    board: str
    spot: Spot
    way: str


class Bent(NamedTuple):
    """What came of it. ``found``: the check that says so, "" where none does."""

    board: str
    spot: Spot
    way: str
    found: str

    @property
    def excuse(self) -> str:
        """The reason why nobody has to find it; "" without one."""
        return parts.excuse(self.spot)


@dataclass
class _Kept:
    """What an area found of the healthy node. ``known``: all that it asked, ``keys``: of which sources."""

    found: Any
    more: tuple[Any, ...]
    known: Cached
    keys: frozenset[str]
    facts: dict[str, Any] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return self.facts


class Node:
    """A node of a board, its equals, and what is said of them while nothing is bent."""

    def __init__(self, board: str) -> None:
        self.board = board
        self.node = fleets.described(board, int(fleets.ODD[4:]))
        self.tree = render.render(self.node)
        self._memory: dict[str, _Kept] = {}
        self._bent: set[str] | None = None
        packages._parsed.cache_clear()
        self._equals = fleets.equals(board)
        packages._parsed.cache_clear()
        self._healthy = self._said()

    def asked(self) -> list[str]:
        """Every command and every file that any area asked for."""
        found = dict.fromkeys(key for one in self._memory.values() for key in one.keys)
        return sorted(key for key in found if key in self.tree.commands or self._is_file(key))

    def _is_file(self, key: str) -> bool:
        return key.startswith("/") and self.tree._resolve(key) in self.tree.files

    def finds(self, spot: Spot, way: str, draw: Random) -> str | None:
        """The check that names the part while this leaf is bent so; "" for none, None where it cannot be bent."""
        new = self.new(spot, way, draw)
        return None if new is None else next((check for check, *words in sorted(new) if _names(spot.part, words)), "")

    def new(self, spot: Spot, way: str, draw: Random, *, anew: bool = False) -> Said | None:
        """What is said while this leaf is bent so and not before. ``anew``: every area looks again."""
        before = (dict(self.tree.files), dict(self.tree.commands), dict(self.tree.links), set(self.tree.folders))
        place = self.tree._resolve(spot.entry) if spot.entry.startswith("/") else spot.entry
        try:
            if not spot.bend(self.tree, way, draw):
                return None
            self._bent = {place} if not anew else {ANYTHING}
            packages._parsed.cache_clear()
            return self._said() - self._healthy
        finally:
            self.tree.files, self.tree.commands, self.tree.links, self.tree.folders = before
            self.tree._names = None
            self.tree._places.clear()
            self._bent = None

    def _said(self) -> Said:
        areas = [replace(area, observe=partial(self._observe, area), judge=partial(_judge, area)) for area in ALL]
        odd = fleets.host(fleets.ODD, self.node, self.tree, lambda tree, expect: look.look(tree, expect, areas))
        among = consistency.judge([odd, *self._equals], 1 + len(self._equals))
        said = [(fleets.ODD, check) for check in (*odd.checks, *odd.ports)]
        said += [(host, check) for host, checks in among.items() for check in checks]
        return frozenset(_said(host, check) for host, check in said if check.result in _COUNTED)

    def _observe(self, area: Area, known: Cached, *more: Any) -> Any:
        """What the area finds; what it found before where nothing that it asks for is bent."""
        mine = self._memory.get(area.name)
        if self._bent is None:
            heard = Cached(known)
            found = area.observe(heard, *more)
            checks = area.judge(found, *more)
            mine = _Kept(found, more, heard, frozenset(_keys(heard)), found.to_dict(), checks)
            self._memory[area.name] = mine
            return mine
        if mine is None or ANYTHING in self._bent or mine.more != more or self._touches(mine):
            return area.observe(known, *more)
        for key, answer in mine.known._known.items():
            known._known.setdefault(key, answer)
        return mine

    def _touches(self, mine: _Kept) -> bool:
        bent = {*(self._bent or ()), *(place.rpartition("/")[0] for place in self._bent or ())}
        return any(key in bent or (key.startswith("/") and self.tree._resolve(key) in bent) for key in mine.keys)


def _judge(area: Area, found: Any, *more: Any) -> list[Check]:
    return list(found.checks) if isinstance(found, _Kept) else area.judge(found, *more)


def _keys(known: Cached) -> Iterator[str]:
    for (how, *rest), answer in known._known.items():
        if how == "again":
            if isinstance(answer, tuple):
                yield from _keys(answer[0])
        else:
            yield entry_name(*rest) if how == "run" else rest[0]


def _said(host: str, check: Check) -> tuple[str, ...]:
    return (check.id, host, check.subject, check.result, check.observed, check.expected, check.cause)


def _names(part: Part, words: Sequence[str]) -> bool:
    host, *said = words
    if part.kind == parts.HOST:
        return host == fleets.ODD
    return part.is_in(" ".join(said)) and (host == fleets.ODD or fleets.ODD in " ".join(said))


@cache
def node(board: str) -> Node:
    """The node of this board."""
    return Node(board)


def spots(board: str, draw: Random) -> list[Spot]:
    """Of one part of each kind, one leaf of each kind."""
    mine = node(board)
    every = parts.parts(mine.node)
    found: list[Spot] = []
    for part in parts.drawn(mine.node, draw):
        kinds: dict[str, list[Spot]] = {}
        for spot in parts.spots(mine.tree, mine.asked(), part, every):
            kinds.setdefault(spot.kind, []).append(spot)
        found += [draw.choice(kind) for kind in kinds.values()]
    return found


def every(boards: Iterable[str]) -> list[Way]:
    """Each leaf of each board, in every way."""
    drawn = ((board, spot) for board in boards for spot in spots(board, Random(f"{SEED} {board}")))
    return [Way(board, spot, way) for board, spot in drawn for way in texts.WAYS]


def once(ways: Iterable[Way]) -> list[Way]:
    """Each kind of leaf on one of the boards that have it."""
    boards: dict[tuple[str, str], list[str]] = {}
    for one in ways:
        boards.setdefault((one.spot.part.kind, one.spot.kind), []).append(one.board)
    draw = Random(SEED)
    chosen = {kind: draw.choice(some) for kind, some in boards.items()}
    return [one for one in ways if one.board == chosen[one.spot.part.kind, one.spot.kind]]


def bend(ways: Iterable[Way]) -> list[Bent]:
    """What came of each that can be."""
    found = []
    for one in ways:
        by = node(one.board).finds(one.spot, one.way, Random(f"{SEED} {one.board} {one.spot.path} {one.way}"))
        if by is not None:
            found.append(Bent(*one, by))
    return found


@dataclass(frozen=True)
class Count:
    """``leaves``: found in a way, and all that no reason excuses; ``ways``: found, and all there are."""

    leaves: tuple[int, int]
    ways: tuple[int, int]

    @classmethod
    def of(cls, some: Sequence[Bent]) -> Count:
        asked = {(one.board, one.spot.part, one.spot.path): False for one in some if not one.excuse}
        for one in some:
            if one.found and not one.excuse:
                asked[one.board, one.spot.part, one.spot.path] = True
        return cls((sum(asked.values()), len(asked)), (sum(bool(one.found) for one in some), len(some)))


def main(words: Sequence[str]) -> int:
    """Bend every leaf of six boards and print by tool and way how many are found.

    Words: names of boards, how many ways are drawn of all, ``lost`` for each that is not found.
    """
    ways = every([word for word in words if word in render.boards()] or BOARDS)
    for count in (int(word) for word in words if word.isdigit()):
        ways = Random(SEED).sample(ways, min(count, len(ways)))
    done = bend(ways)
    for one in done if "lost" in words else ():
        if not one.found:
            spot = one.spot
            why = f"{one.excuse or '-':15} {one.way:8} {one.board:18} {spot.part.kind:5}"
            print(f"LOST {why} {spot.path}: {spot.leaf.value}")
    print(table(done))
    return 0


def table(done: Sequence[Bent]) -> str:
    """What is found by kind of part, tool and way."""
    head = " | ".join(("part", "tool", "leaves not excused", "ways", *texts.WAYS))
    lines = [f"| {head} |", "|---|---|" + "---:|" * (2 + len(texts.WAYS))]
    rows: dict[tuple[str, str], list[Bent]] = {}
    for one in done:
        for row in ((one.spot.part.kind, _tool(one.spot)), (one.spot.part.kind, ""), ("", "")):
            rows.setdefault(row, []).append(one)
    for (kind, tool), mine in sorted(rows.items(), reverse=True):
        count = Count.of(mine)
        by_way = (Count.of([one for one in mine if one.way == way]).ways for way in texts.WAYS)
        lines.append(f"| {kind} | {tool or 'all'} | {' | '.join(map(_share, (count.leaves, count.ways, *by_way)))} |")
    return "\n".join(lines)


def _tool(spot: Spot) -> str:
    return "/".join(spot.source.split("/")[:4]) if spot.entry.startswith("/") else spot.source


def _share(count: tuple[int, int]) -> str:
    some, every = count
    return f"{some}/{every} {100 * some / every:.0f} %" if every else "-"
