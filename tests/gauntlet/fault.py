# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults of faults/*.yml and the oddities of oddities/*.yml.

A fault is what breaks in a node, and which check must find it; an oddity is unusual and harms
nothing, so that nothing may be found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Fault:
    """One thing wrong with one healthy node; README.md tells what each field holds."""

    name: str
    board: str
    check: str
    cause: str  # what the finding must say somewhere: cause, observed or expected
    area: str
    subject: str = ""  # "" where any subject will do
    remedy: str = ""  # a word that its remedy must hold
    severity: str = ""  # of the finding, where that is not the check's own
    also: tuple[str, ...] = ()  # other checks that rightly fail or cannot tell any more
    node: tuple[dict[str, Any], ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Oddity:
    """One healthy node that is unlike others; README.md tells what each field holds."""

    name: str
    board: str
    why: str  # why it harms nothing
    area: str
    node: tuple[dict[str, Any], ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)


@cache
def load() -> list[Fault]:
    """Every fault, by file and order, read once; raises TypeError or KeyError on one that is not well told."""
    return [Fault(**raw) for raw in _told("faults")]


@cache
def oddities() -> list[Oddity]:
    """Every oddity, by file and order, read once; raises TypeError or KeyError on one that is not well told."""
    return [Oddity(**raw) for raw in _told("oddities")]


def _told(folder: str) -> list[dict[str, Any]]:
    found = []
    for path in sorted((HERE / folder).glob("*.yml")):
        for raw in yaml.safe_load(path.read_text()) or []:
            changes = {key: tuple(raw[key]) for key in ("node", "evidence", "also") if key in raw}
            found.append({"area": path.stem, **raw, **changes})
    names = [raw["name"] for raw in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise KeyError(f"names of {folder} must be unique: {sorted(twice)}")
    return found


def broken(fault: Fault | Oddity) -> tuple[Node, Tree]:
    """The node with this fault or oddity, and its evidence."""
    described = render.node(fault.board)
    described.expect = {**described.expect, **fault.expect}
    for change in fault.node:
        _change_node(described, dict(change))
    tree = render.render(described)
    for change in fault.evidence:
        _change_evidence(tree, dict(change))
    return described, tree


def _change_node(described: Node, change: dict[str, Any]) -> None:
    """``{hca: NAME, ...}``, ``{gpu: INDEX, ...}`` or ``{...}``: set fields, or ``remove``."""
    target: Any = described
    if "hca" in change:
        target = described.hca(change.pop("hca"))
        if change.pop("remove", False):
            described.hcas.remove(target)
    elif "gpu" in change:
        index = change.pop("gpu")
        target = next(one for one in described.cards if one.index == index)
        if change.pop("remove", False):
            described.cards.remove(target)
    for name, value in change.items():
        if not hasattr(target, name):
            raise KeyError(f"{type(target).__name__} has no {name}")
        if name == "more":
            value = {**described.more, **value}
        setattr(target, name, value)


def _change_evidence(tree: Tree, change: dict[str, Any]) -> None:
    """One of: command (with stdout, rc, stderr, replace, remove), file, link, remove, broken."""
    if "command" in change:
        _change_command(tree, change)
    elif "file" in change:
        path = change["file"]
        if "replace" in change:
            old, new = change["replace"]
            text = tree.read(path)
            if old not in text:
                raise KeyError(f"{path} does not hold {old!r}")
            tree.file(tree._resolve(path), text.replace(old, new))
        elif "hex" in change:
            tree.file(tree._resolve(path), bytes.fromhex(change["hex"]))
        else:
            tree.file(tree._resolve(path), str(change["text"]))
    elif "link" in change:
        tree.symlink(tree._resolve(change["link"], last=False), change["target"])
    elif "remove" in change:
        tree.remove(change["remove"])
    elif "broken" in change:
        tree.broken[change["broken"]] = change["why"]
    else:
        raise KeyError(f"no known change: {change}")


def _change_command(tree: Tree, change: dict[str, Any]) -> None:
    name = change["command"]
    if change.get("remove"):
        del tree.commands[name]
        return
    now = tree.commands.get(name)
    stdout = change.get("stdout", now.stdout if now else "")
    if "replace" in change:
        old, new = change["replace"]
        if old not in stdout:
            raise KeyError(f"{name} does not print {old!r}")
        stdout = stdout.replace(old, new, change.get("times", -1))
    if "cut" in change:
        # From the first text up to the second.
        first, second = change["cut"]
        begin = stdout.index(first)
        stdout = stdout[:begin] + stdout[stdout.index(second, begin) :]
    if "append" in change:
        stdout += change["append"]
    if "keep" in change:
        stdout = stdout[: int(len(stdout) * change["keep"])]
    tree.command(
        name,
        stdout,
        change.get("rc", now.rc if now else 0),
        change.get("stderr", now.stderr if now else ""),
    )
