# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend each leaf of what a node tells of one part, and see whether a check of the host or the fleet names that part."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

from ansible_collections.ibready.cluster.plugins.module_utils._areas.area import Area
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from ansible_collections.ibready.cluster.plugins.module_utils._equals import compare
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
Said = frozenset[tuple[str, ...]]


class Bent(NamedTuple):
    """What came of one way of bending a leaf. ``excuse``: the reason why nobody has to find it; "" without one."""

    board: str
    spot: Spot
    way: str
    found: str

    @property
    def excuse(self) -> str:
        return compare.excuse(self.spot.path)


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
        before = (dict(self.tree.files), dict(self.tree.commands), dict(self.tree.links), set(self.tree.folders))
        place = self.tree._resolve(spot.entry) if spot.entry.startswith("/") else spot.entry
        try:
            if not spot.bend(self.tree, way, draw):
                return None
            self._bent = {place}
            packages._parsed.cache_clear()
            new = self._said() - self._healthy
        finally:
            self.tree.files, self.tree.commands, self.tree.links, self.tree.folders = before
            self.tree._names = None
            self.tree._places.clear()
            self._bent = None
        return next((check for check, *words in sorted(new) if _names(spot.part, words)), "")

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
        if mine is None or mine.more != more or self._touches(mine):
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


def spots(node: Node, draw: Random) -> list[Spot]:
    """Of one part of each kind, one leaf of each kind."""
    every = parts.parts(node.node)
    found: list[Spot] = []
    for part in parts.drawn(node.node, draw):
        kinds: dict[str, list[Spot]] = {}
        for spot in parts.spots(node.tree, node.asked(), part, every):
            kinds.setdefault(spot.kind, []).append(spot)
        found += [draw.choice(kind) for kind in kinds.values()]
    return found


def walk(boards: Iterable[str], count: int = 0) -> Iterator[Bent]:
    """Each leaf in every way; of each board ``count`` of them."""
    for board in boards:
        draw = Random(f"{SEED} {board}")
        node = Node(board)
        every = [(spot, way) for spot in spots(node, draw) for way in texts.WAYS]
        if count:
            every = draw.sample(every, min(count, len(every)))
        for spot, way in every:
            found = node.finds(spot, way, Random(f"{SEED} {board} {spot.path} {way}"))
            if found is not None:
                yield Bent(board, spot, way, found)


def main(words: Sequence[str]) -> int:
    """Print by tool and way how many are found. Words: names of boards, a number of leaves of each, ``lost``."""
    counts = [int(word) for word in words if word.isdigit()]
    boards = [word for word in words if word in render.boards()] or BOARDS
    done = list(walk(boards, *counts))
    if "lost" in words:
        for one in done:
            how = f"{one.excuse or '-':15} {one.found or 'LOST':30} {one.way:8}"
            print(f"{how} {one.spot.part.kind:5} {one.board:18} {one.spot.path}: {one.spot.leaf.value[:60]}")
    print(table(done))
    return 0


def table(done: Sequence[Bent]) -> str:
    """Found of all ways, by tool and way; of those that nothing excuses in the right half."""
    lines = [
        "| tool | leaves | not excused, found | ways | found | number | word | missing | ways not excused | found |",
        "|---|" + "---:|" * 9,
    ]
    tools = sorted({_tool(one) for one in done})
    for tool in [*tools, ""]:
        mine = [one for one in done if tool in ("", _tool(one))]
        leaves = {(one.board, one.spot.part, one.spot.path) for one in mine}
        asked = [one for one in mine if not one.excuse]
        open_ = {(one.board, one.spot.part, one.spot.path) for one in asked}
        seen = {(one.board, one.spot.part, one.spot.path) for one in asked if one.found}
        by_way = [_share([one for one in mine if one.way == way]) for way in texts.WAYS]
        named = f"{len(seen)} of {len(open_)} ({_part(len(seen), len(open_))})"
        cells = [tool or "all", len(leaves), named, len(mine), _share(mine), *by_way, len(asked), _share(asked)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _tool(one: Bent) -> str:
    source = one.spot.source
    return f"{one.spot.part.kind}: {'/'.join(source.split('/')[:4]) if source.startswith('/') else source}"


def _share(some: Sequence[Bent]) -> str:
    return _part(sum(bool(one.found) for one in some), len(some))


def _part(some: int, every: int) -> str:
    return f"{100 * some / every:.0f} %" if every else "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
