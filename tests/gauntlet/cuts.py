# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs that end early, with status 0: what a check says then shows whether it knows their end.

An output that was cut is worth no more than one that could not be had, see `wrong`. A fault whose
lines were cut off is not passed, see `hidden`. ``ends.yml`` tells how each end is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Evidence, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    DEGRADED,
    FAIL,
    PASS,
    READY,
    SKIP,
    UNKNOWN,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

CLOSED, COUNTED, TWICE = "closed", "counted", "twice"
FIELDS, STATUS, UNJUDGED = "fields", "status", "unjudged"
KINDS = (CLOSED, COUNTED, TWICE, FIELDS, STATUS, UNJUDGED)
EMPTY, LINE, WITHIN, LAST = "empty", "after a line", "within a line", "without the last line end"
# A board of its own, whose bundle holds what was asked of its fabric.
FABRIC = "a fabric in a bundle"
# So many cuts of one output are tried where not all are asked for.
FEW = 8
_SHOWN = 100

Results = dict[tuple[str, str], Check]


@cache
def ends() -> dict[str, dict[str, str]]:
    """The entries of ends.yml."""
    known: dict[str, dict[str, str]] = yaml.safe_load((Path(__file__).parent / "ends.yml").read_text())
    return known


def end_of(source: str) -> str:
    """The word for a command's entry (``sminfo@mlx5_0-1``) or a file."""
    return ends()[source if source.startswith("/") else source.partition("@")[0]]["end"]


@dataclass(frozen=True)
class Cut:
    """So many characters are left of a text."""

    kind: str
    kept: int


def cuts(text: str, most: int | None = None) -> list[Cut]:
    """All of a text's cuts, or about ``most`` spread over it, the same every time.

    Within a line means: half of it, and of the last one any part.
    """
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
    body = len(text.rstrip("\n"))
    lines = [Cut(LINE, at) for at in starts if 0 < at <= body]
    last = max(at for at in starts if at <= body)
    halves = [Cut(WITHIN, (at + end) // 2) for at, end in pairwise(starts)]
    halves = [one for one in halves if text[one.kept - 1 : one.kept].strip() and one.kept < last]
    tail = [Cut(WITHIN, at) for at in range(last + 1, body) if text[last:at].strip()]
    if most is not None:
        # The end is where a reader is most easily deceived.
        lines = [*_spread(lines[:-3], most // 2), *lines[-3:]]
        halves, tail = _spread(halves, 1), _spread(tail, 2)
    found = [Cut(EMPTY, 0), *lines, *halves, *tail, Cut(LAST, body)]
    return [one for one in found if one.kept < len(text)]


def _spread(found: Sequence[Cut], most: int) -> list[Cut]:
    if len(found) <= most:
        return list(found)
    return [found[at * (len(found) - 1) // max(1, most - 1)] for at in range(most)]


@cache
def board(name: str) -> tuple[Node, Tree]:
    """A healthy board and its evidence."""
    node = render.node("hgx-h100-8" if name == FABRIC else name)
    if name == FABRIC:
        node.more = {**node.more, "whole_fabric": True}
    tree = render.render(node)
    tree.recorded = name == FABRIC
    return node, tree


def boards() -> list[str]:
    return [*sorted(render.boards()), FABRIC]


def sources(tree: Tree) -> list[str]:
    """What has an end to be known by; of many ports' answers the first and the last."""
    found: dict[str, list[str]] = {}
    for entry, output in tree.commands.items():
        name = entry.partition("@")[0]
        if output.stdout and output.rc == 0:
            # Units are asked in several ways, ports all in the same.
            found.setdefault(entry if name == "systemctl_show" else name, []).append(entry)
    names = [one for entries in found.values() for one in dict.fromkeys((entries[0], entries[-1]))]
    return [*names, *(path for path in ends() if path in tree.files)]


def walk(*, everything: bool = False) -> list[tuple[str, str]]:
    """Boards and sources; the same text only of the first and the last board that has it."""
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in boards():
        tree = board(name)[1]
        for source in sources(tree):
            text = name if everything else text_of(tree, source)
            alike.setdefault((source, text), []).append((name, source))
    return [one for found in alike.values() for one in dict.fromkeys((found[0], found[-1]))]


def text_of(tree: Tree, source: str) -> str:
    return tree.read(source) if source.startswith("/") else tree.commands[source].stdout


def shorter(tree: Tree, source: str, kept: int) -> Tree:
    """The evidence with this source cut."""
    text = text_of(tree, source)[:kept]
    if source.startswith("/"):
        found = replace(tree, files={**tree.files, source: text.encode()})
    else:
        output = replace(tree.commands[source], stdout=text)
        found = replace(tree, commands={**tree.commands, source: output})
    found.recorded = tree.recorded
    return found


class Gone:
    """The evidence without one source, of which nobody can tell anything."""

    def __init__(self, tree: Tree, source: str) -> None:
        self._tree = tree
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def run(self, name: str, *args: str) -> Output:
        if entry_name(name, *args) == self._source:
            raise Unavailable(name, "gave no complete answer within 30 s")
        return self._tree.run(name, *args)

    def read(self, path: str) -> str:
        if path == self._source:
            raise Unavailable(path, "permission denied")
        return self._tree.read(path)


def judge(node: Node, source: Evidence, areas: Sequence[str] = _verify.AREAS) -> Results:
    expect = from_inventory({} if source.recorded else node.expect)
    areas = ["fabric"] if source.recorded else areas
    return {(one.id, one.subject): one for one in _verify.verify(source, expect, areas).checks}


@cache
def whole(name: str) -> Results:
    node, tree = board(name)
    return judge(node, tree)


def wrong(name: str, source: str, most: int | None = FEW) -> Iterator[str]:
    """What a board still says of itself when this source was cut, and may not say.

    An area of which an error is told, or that an error cannot be told of, is nobody's ready host.
    In the others each pass and each skip is one that is told without the source as well; or, by
    ``fields`` and ``counted``, the same as of the whole: what it needs stands before the cut. No
    pass turns into a skip.
    """
    node, tree = board(name)
    before, end = whole(name), end_of(source)
    without = judge(node, Gone(tree, source))
    # Where nobody misses the source nobody is deceived by half of it either.
    areas = sorted({_area(key) for key in {*before, *without} if _differs(before, without, key)})
    for cut in cuts(text_of(tree, source), most) if areas and end != UNJUDGED else ():
        if end == STATUS and cut.kind == LINE:
            continue
        after = judge(node, shorter(tree, source, cut.kept), areas)
        for area in areas:
            mine = {key: one for key, one in after.items() if _area(key) == area}
            if verdict(list(mine.values())) not in (READY, DEGRADED):
                continue
            for key, one in mine.items():
                was = before.get(key)
                lost = one.result == SKIP and was is not None and was.result == PASS
                if one.result not in (PASS, SKIP) or not (lost or _differs(after, without, key)):
                    continue
                same = was is not None and _told(was) == _told(one)
                if not same or not (end in (FIELDS, COUNTED) or cut.kind == LAST):
                    yield f"{cut.kind}, {_line(tree, source, cut)}: {area} is ready; {_shown(one)}"


def hidden(one: fault.Fault, most: int | None = FEW) -> Iterator[str]:
    """Where a fault is passed because the lines that show it were cut off."""
    node, tree = fault.broken(one)
    _node, healthy = board(one.board)
    area = "ib" if one.check == "fabric.sm.answers" else one.check.partition(".")[0]
    for source in sources(tree):
        if end_of(source) in (STATUS, UNJUDGED):
            continue
        text, other = text_of(tree, source), _other(healthy, source)
        if text == other or area not in _verify.AREAS:
            continue
        if _passes(one.check, judge(node, Gone(tree, source), [area])):
            continue  # the check does without it
        at = next(
            (at for at, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]),
            None,
        )
        first = text.rfind("\n", 0, min(len(text), len(other)) if at is None else at) + 1
        for cut in cuts(text, most):
            checks = judge(node, shorter(tree, source, cut.kept), [area]) if cut.kept <= first else {}
            if checks and _passes(one.check, checks):
                yield f"{source}, {cut.kind}, {_line(tree, source, cut)}: {one.check} is passed"


def _passes(check: str, found: Results) -> bool:
    """Whether the host is ready, and neither fails this check nor says that it cannot tell."""
    mine = {one.result for one in found.values() if one.id == check}
    return not mine & {FAIL, UNKNOWN} and verdict(list(found.values())) in (READY, DEGRADED)


def _other(healthy: Tree, source: str) -> str:
    there = healthy.files if source.startswith("/") else healthy.commands
    return text_of(healthy, source) if source in there else ""


def _area(key: tuple[str, str]) -> str:
    return "ib" if key[0] == "fabric.sm.answers" else key[0].partition(".")[0]


def _told(one: Check) -> tuple[str, str]:
    return one.result, one.observed


def _differs(one: Results, other: Results, key: tuple[str, str]) -> bool:
    found = [results[key].result if key in results else "" for results in (one, other)]
    return found[0] != found[1]


def _line(tree: Tree, source: str, cut: Cut) -> str:
    text = text_of(tree, source)
    return f"line {text.count(chr(10), 0, cut.kept)} of {text.count(chr(10))}"


def _shown(one: Check) -> str:
    return f"{one.id} {one.result} {one.subject}: {(one.observed or one.cause)[:_SHOWN]}"
