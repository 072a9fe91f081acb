# SPDX-License-Identifier: GPL-3.0-or-later
"""A healthy node of the gauntlet: what each area asked and said of it, and what it says of a bent one."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tests.gauntlet.bent.sources import Switch

SWITCH = Switch()
SWITCH.install()

# What follows is imported behind the switch.
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify.look import meet
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import ALL
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import consistency
from tests.gauntlet import render
from tests.gauntlet.tree import Tree
from tests.unit import fleets

AREAS = tuple(area.name for area in ALL)
Bending = Callable[[Tree], AbstractContextManager[None]]


@dataclass(frozen=True)
class Told:
    """What a bent node was told: ids of checks that say what is wrong, and of those that say something else."""

    wrong: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()
    raised: str = ""


class Healthy:
    """A node of this board before anything is bent.

    ``heard``: what parsers returned to which areas. ``read``: which areas read which file.
    """

    def __init__(self, board: str) -> None:
        self.board = board
        self._node = fleets.described(board, int(fleets.ODD[4:]))
        self.tree = render.render(self._node)
        self.read: dict[str, set[str]] = {}
        SWITCH.heard.clear()
        self._said = self._look(_Listening(self.tree, self.read), AREAS)
        bad = [f"{check.id} {check.subject}" for check in self._said if check.result in (FAIL, UNKNOWN)]
        if bad:
            raise ValueError(f"{board} is not healthy, and all that is bent in it would be found: {', '.join(bad)}")
        self.heard = {name: list(calls) for name, calls in SWITCH.heard.items()}

    def alone(self, areas: Iterable[str], bending: Bending) -> Told:
        """What these areas say of the node while it is bent."""
        tree = self._copy()
        try:
            with bending(tree):
                said = self._look(tree, areas)
        except Exception as exc:  # What no parser returns may be more than an area can take.
            return Told(raised=f"{type(exc).__name__}: {exc}")
        wrong = {check.id for check in said if check.result in (FAIL, UNKNOWN)}
        before = {(check.id, check.subject): check for check in self._said}
        other = {check.id for check in said if before.get((check.id, check.subject)) != check}
        return Told(frozenset(wrong), frozenset(other - wrong))

    def among_equals(self, bending: Bending) -> Told:
        """What two equal nodes show of the bent one."""
        tree = self._copy()
        packages._parsed.cache_clear()
        try:
            with bending(tree):
                odd = fleets.host(fleets.ODD, self._node, tree)
        except Exception as exc:
            return Told(raised=f"{type(exc).__name__}: {exc}")
        checks = consistency.judge([odd, *self._equals], 3).get(fleets.ODD, [])
        return Told(frozenset(check.id for check in checks if check.result in (FAIL, UNKNOWN)) - self._apart)

    @cached_property
    def _equals(self) -> tuple[Any, ...]:
        packages._parsed.cache_clear()
        return fleets.equals(self.board)

    @cached_property
    def _apart(self) -> frozenset[str]:
        """What is found among equals though nothing is bent: a bundle has no clock, and the like."""
        odd = fleets.host(fleets.ODD, self._node, self.tree)
        checks = consistency.judge([odd, *self._equals], 3).get(fleets.ODD, [])
        return frozenset(check.id for check in checks if check.result in (FAIL, UNKNOWN))

    def _copy(self) -> Tree:
        tree = copy.copy(self.tree)
        tree.files = dict(self.tree.files)
        return tree

    def _look(self, tree: Any, areas: Iterable[str]) -> list[Check]:
        packages._parsed.cache_clear()
        SWITCH.area = "machine"
        seen, wanted = meet(Cached(tree), from_inventory(self._node.expect))
        checks: list[Check] = []
        for area in ALL:
            if area.name in areas:
                SWITCH.area = area.name
                checks += area.judge(area.observe(Cached(tree), seen, wanted), seen, wanted)
        return checks


@dataclass
class _Listening:
    """Evidence that remembers which area read which file."""

    _tree: Tree
    _read: dict[str, set[str]] = field(default_factory=dict)

    def read(self, path: str) -> str:
        text = self._tree.read(path)
        self._read.setdefault(path, set()).add(SWITCH.area)
        return text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)


def asked_by(areas: Iterable[str]) -> tuple[str, ...]:
    """The areas whose checks may change; all, where the machine itself is read from it."""
    found = set(areas)
    return tuple(name for name in AREAS if name in found or "machine" in found)


def writing(new: dict[str, str]) -> Bending:
    """Other texts in these files."""

    def write(tree: Tree) -> AbstractContextManager[None]:
        for path, text in new.items():
            tree.file(tree._resolve(path), text)
        return contextlib.nullcontext()

    return write
