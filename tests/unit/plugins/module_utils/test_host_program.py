# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that ibready puts on a host: each is one file that needs nothing of this collection."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from types import ModuleType

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import cdi_rdma
from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import program as roce
from ansible_collections.ibready.cluster.plugins.module_utils._act.soft_roce import program as soft_roce
from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import boot_tuning
from ansible_collections.ibready.cluster.plugins.module_utils._ground import host_program, source, whole

PROGRAMS = {module.__name__: module for module in (boot_tuning, roce, soft_roce, cdi_rdma)}


@pytest.fixture(params=PROGRAMS)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return PROGRAMS[request.param]


@pytest.fixture
def text(module: ModuleType) -> str:
    return source.joined(whole, host_program, module)


def made(tree: ast.Module) -> list[str]:
    """The names that the program gives at its top, imports of the standard library aside."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found += [
                name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            ]
    return found


def test_no_part_takes_a_name_of_another(text: str) -> None:
    assert {name for name, often in Counter(made(ast.parse(text))).items() if often > 1} == set()


def test_whatever_it_names_is_in_it(text: str) -> None:
    assert "ansible" not in text.replace("ibready.cluster", "").lower().split()
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.level]
    argv = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821", "--output-format=concise", "-"]
    found = subprocess.run(argv, input=text, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_it_says_first_what_it_is_for(module: ModuleType, text: str) -> None:
    assert module.__doc__ is not None
    assert text.startswith(f"# {module.__doc__.splitlines()[0]}\n")


def test_the_words_of_the_one_who_starts_it_are_known() -> None:
    for words in ([], ["remove"], ["apply", "now"]):
        assert host_program.command("x", words, lambda _word: 0) == 64
    assert host_program.command("x", ["show"], lambda _word: 0) == 0
