# SPDX-License-Identifier: GPL-3.0-or-later
"""Every promise of docs/security.md is a test that exists."""

from __future__ import annotations

import ast
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
