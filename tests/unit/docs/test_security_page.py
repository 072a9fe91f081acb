# SPDX-License-Identifier: GPL-3.0-or-later
"""Every promise of docs/security.md is a test that exists, and every bound one that goes beyond it."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from tests.unit.docs.markdown import ROOT

TEXT = (ROOT / "docs/security.md").read_text(encoding="utf-8")
SECTION = "## What is promised, and the tests that hold it"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = [
    line
    for line in TEXT.partition(SECTION)[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith(("| promise |", "|---"))
]


def test_there_are_promises() -> None:
    assert len(ROWS) > 15


@pytest.mark.parametrize("row", ROWS)
def test_a_promise_names_tests_that_exist(row: str) -> None:
    named = _TEST.findall(row)
    assert named, "no test is named"
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


BOUNDS = [
    line
    for line in TEXT.partition("## What is bounded")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| what |")
]
_BOUND = re.compile(
    r"\| ([0-9,]+)(?: (KiB|MiB|GiB))? \| [^|]+ \| `([\w/]+\.py)` `(\w+)` \| `(tests/[\w/]+\.py)::(\w+)` \|$"
)
_UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
PLUGINS = "ansible_collections.ibready.cluster.plugins"


def in_the_code() -> set[tuple[str, str]]:
    """Every number that the code calls a Bound."""
    return {
        (str(file.relative_to(ROOT / "plugins")), node.target.id)
        for file in (ROOT / "plugins").rglob("*.py")
        if "Bound = " in (text := file.read_text(encoding="utf-8"))
        for node in ast.parse(text).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and ast.unparse(node.annotation) == "Bound"
    }


def test_every_bound_has_a_row_and_every_row_is_a_bound() -> None:
    assert {(found[3], found[4]) for found in map(_BOUND.search, BOUNDS) if found} == in_the_code()
    assert len(BOUNDS) == len(in_the_code())


@pytest.mark.parametrize("row", BOUNDS)
def test_a_bound_is_as_told_and_has_a_test_that_goes_beyond_it(row: str) -> None:
    found = _BOUND.search(row)
    assert found is not None
    most, unit, file, name, path, test = found.groups(default="")
    module = importlib.import_module(f"{PLUGINS}.{file[:-3].replace('/', '.')}")
    assert getattr(module, name) == int(most.replace(",", "")) * _UNITS[unit]
    text = (ROOT / path).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == test:
            first = min(node.lineno, *(decorator.lineno for decorator in node.decorator_list), node.lineno)
            assert re.search(rf"\b{name}\b", "\n".join(text.splitlines()[first - 1 : node.end_lineno]))
            return
    pytest.fail(f"{path} has no {test}")


_BOUNDS_NAME = re.compile(r"MOST|LONGEST|LARGEST|LIMIT|KEPT")


def _numbers(tree: ast.Module) -> set[str]:
    """Numbers of a module whose names say that they bound something, and that no row has as a Bound."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for names in node.targets
        for target in (names.elts if isinstance(names, ast.Tuple) else [names])
        if isinstance(target, ast.Name) and _BOUNDS_NAME.search(target.id)
    }


def _named(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()


def _cut(function: ast.FunctionDef) -> set[str]:
    """Names by which the function takes a part of something and does not say so in it: a slice, a read or a list that
    grows no more, and neither how much is left nor whether there is more."""
    cut: set[str] = set()
    said: set[str] = set()
    grows: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Slice):
            cut |= _named(node.upper) | (_named(node.lower) if isinstance(node.lower, ast.UnaryOp) else set())
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("islice", "read", "pread"):
            cut |= {name for word in node.args for name in _named(word)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "range":
            cut |= {name for word in node.args if "min(" in ast.unparse(word) for name in _named(word)}
        elif isinstance(node, ast.If) and not node.orelse:
            for sign in (each for each in ast.walk(node.test) if isinstance(each, ast.Compare)):
                if isinstance(sign.ops[0], ast.Lt | ast.LtE) and ast.unparse(sign.left).startswith("len("):
                    grows.add(id(sign))
                    cut |= _named(sign.comparators[0])
    for node in ast.walk(function):
        if (isinstance(node, ast.Compare) and id(node) not in grows) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        ):
            said |= _named(node)
    return cut - said


def silent(text: str) -> set[str]:
    tree = ast.parse(text)
    numbers = _numbers(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if numbers else []
    return {name for function in functions for name in _cut(function) & numbers}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return words[:_MOST]", True),
        ("return words[-_MOST:]", True),
        ("return stream.read(_MOST)", True),
        ("return os.pread(fd, _MOST, 0)", True),
        ("return list(islice(words, _MOST))", True),
        ("return range(min(ranks, _MOST))", True),
        ("if len(words) < _MOST:\n  words.append(1)", True),
        ("return few(words, _MOST)", False),
        ("return words[:_MOST], len(words) - _MOST", False),
        ("if len(words) > _MOST:\n  raise ValueError\n return words[:_MOST]", False),
    ],
)
def test_what_cuts_without_a_word_is_seen(body: str, found: bool) -> None:
    assert silent(f"_MOST = 3\ndef one(words):\n {body}\n") == ({"_MOST"} if found else set())
    assert silent(f"_MOST: Bound = 3\ndef one(words):\n {body}\n") == set()


def test_what_cuts_says_so_or_has_a_row() -> None:
    """A number that cuts tells how much is left where it does, or is a Bound, of which there is a row and a test."""
    found = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / "plugins").rglob("*.py")
        for name in silent(file.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_what_is_packed_by_others_is_opened_with_a_bound_of_the_table() -> None:
    """Nobody opens a text or reads a file with a number of their own."""
    names = {name for _file, name in in_the_code()} | {"left"}  # what is left of one
    for file in (ROOT / "plugins").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "packed.opened":
                assert ast.unparse(call.args[1]) in names, file


def test_the_agent_s_unit_has_the_capabilities_that_the_page_names() -> None:
    unit = (ROOT / "roles/health_agent/templates/ibready-health.service.j2").read_text(encoding="utf-8")
    granted = re.findall(r"^CapabilityBoundingSet=(.*)$", unit, re.MULTILINE)
    row = next(line for line in TEXT.splitlines() if line.startswith("| the health agent |"))
    told = re.findall(r"`(CAP_\w+)`", row)
    words = dict(enumerate(("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")))
    assert [" ".join(told)] == granted
    assert f"a unit with {words[len(told)]} capabilities" in row
    assert not [name for name in told if name.removeprefix("CAP_") not in unit.partition("CapabilityBoundingSet")[0]]
