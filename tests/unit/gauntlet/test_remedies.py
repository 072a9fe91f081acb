# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy is of its cause, and one that changes a file, carried out to the letter, mends what it is printed for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import fault, run
from tests.gauntlet.fault import Fault
from tests.gauntlet.remedies import hands, misfit
from tests.gauntlet.tree import Tree

PLUGINS = Path(__file__).parents[3] / "plugins"
_REWRITE = re.compile(r"write `([^`]+)` in place of `([^`]+)` in (/[^\s,;]+)")
_APPEND = re.compile(r"add the line `([^`]+)` to (/[^\s,;]+)")
_DELETE = re.compile(r"take `([^`]+)` out of (/[^\s,;]+)")
# Checks whose remedy is a change of files that they read themselves.
_BY_FILES = ("host.limit.memlock_login", "host.boot.sysctl", "host.boot.modules")
# The remedy of these is a role.
_BY_HAND = {
    "sshd goes without PAM, whatever pam_limits says",
    "sshd does not ask pam_limits, and has systemd's small limit",
}
FAULTS = [one for one in fault.load() if one.check in _BY_FILES and one.name not in _BY_HAND]


def _plain(line: str) -> str:
    return " ".join(line.split())


def _text(tree: Tree, path: str) -> str:
    return tree.read(path) if _place(tree, path) in tree.files else ""


def _place(tree: Tree, path: str) -> str:
    return tree._resolve(path)


def carry_out(remedy: str, tree: Tree) -> bool:
    """Do what it says to the files; whether it says anything that can be done to one."""
    done = False
    for new, old, path in _REWRITE.findall(remedy):
        lines = _text(tree, path).split("\n")
        assert any(_plain(line) == old for line in lines), f"{path} has no line {old!r}: {remedy}"
        tree.file(_place(tree, path), "\n".join(new if _plain(line) == old else line for line in lines))
        done = True
    for old, path in _DELETE.findall(remedy):
        lines = _text(tree, path).split("\n")
        assert any(_plain(line) == old for line in lines), f"{path} has no line {old!r}: {remedy}"
        tree.file(_place(tree, path), "\n".join(line for line in lines if _plain(line) != old))
        done = True
    for line, path in _APPEND.findall(remedy):
        tree.file(_place(tree, path), f"{_text(tree, path)}{line}\n")
        done = True
    return done


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: str(one.name))
def test_a_remedy_that_is_carried_out_mends(one: Fault) -> None:
    described, tree = fault.broken(one)
    found = [check for check in run.judge(described, tree) if check.id == one.check and check.result == FAIL]
    assert found
    assert [check for check in found if carry_out(check.remedy, tree)], [check.remedy for check in found]
    after = [check for check in run.judge(described, tree) if check.id == one.check]
    assert {check.result for check in after} == {PASS}, [_words(check) for check in after]


def _words(check: Check) -> str:
    return f"{check.observed}: {check.remedy}"


def test_what_sends_hands_to_a_part_is_told_from_what_looks_first() -> None:
    assert hands("look at the port; reseat the cable, then swap it")
    assert hands("power cycle the host, then reseat the device")
    assert not hands("boot anew; if it comes back, reseat the device")
    assert not hands("leave the cable; write `a` in place of `b`; replace `c` by `d`")


def test_a_remedy_of_a_part_or_beside_an_order_is_no_remedy_of_another_cause() -> None:
    known = CATALOG["ib.hca.count"]
    assert misfit(known, "no driver took it over", "reseat or replace the HCA")
    assert misfit(known, "the inventory expects less; correct ibready_expect", known.remedy)
    assert misfit(known, "an HCA fell off the bus", "reseat or replace the HCA") == ""
    assert misfit(known, "the inventory expects less; correct ibready_expect", "correct ibready_expect") == ""


def test_every_cause_of_the_catalog_has_a_remedy_of_its_kind() -> None:
    wrong = (misfit(known, cause, known.remedy) for known in CATALOG.values() for cause in known.causes)
    assert [why for why in wrong if why] == []


def test_every_cause_that_is_written_beside_a_finding_has_a_remedy_of_its_kind() -> None:
    """Also where no fault of the gauntlet shows it: a cause without a remedy has the catalog's."""
    causes = [found for path in sorted(PLUGINS.rglob("*.py")) for found in _written(ast.parse(path.read_text()))]
    assert len(causes) > 100
    wrong = (misfit(CATALOG[name], cause, CATALOG[name].remedy) for name, cause in causes)
    assert [why for why in wrong if why] == []


def _written(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Id and cause of each `failed` that names both in its function or file, and no remedy."""
    everywhere = _texts(module.body)
    for function in (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)):
        known = {**everywhere, **_texts(list(ast.walk(function)))}
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            given = {word.arg: word.value for word in call.keywords}
            if "cause" not in given or "remedy" in given or not isinstance(call.func, ast.Name):
                continue
            names = [name for arg in call.args[:2] for name in _of(arg, known) if name in CATALOG]
            yield from ((name, cause) for name in names for cause in _of(given["cause"], known) if cause)


def _texts(body: list[ast.AST] | list[ast.stmt]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in body:
        pairs = []
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            pairs = [(node.targets[0], node.value)]
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
        for name, value in pairs:
            if isinstance(name, ast.Name):
                found.setdefault(name.id, []).extend(_of(value, {}))
    return found


def _of(node: ast.AST, known: dict[str, list[str]]) -> list[str]:
    """The texts that an expression may be, as far as they are written there; what is computed is a dash."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "-" for part in node.values)]
    if isinstance(node, ast.IfExp):
        return [*_of(node.body, known), *_of(node.orelse, known)]
    return known.get(node.id, []) if isinstance(node, ast.Name) else []
