# SPDX-License-Identifier: GPL-3.0-or-later
"""A dry run asks everything: Ansible would skip, as if it were well, what does not support check mode."""

from __future__ import annotations

import ast
from pathlib import Path

PLUGINS = Path(__file__).parents[3] / "plugins"


def test_every_module_supports_check_mode() -> None:
    made = [
        (path.name, {word.arg: ast.unparse(word.value) for word in node.keywords})
        for folder in (PLUGINS / "modules", PLUGINS / "module_utils/_verify")
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("AnsibleModule")
    ]
    assert len(made) > 10
    assert [name for name, given in made if given.get("supports_check_mode") != "True"] == []


def test_no_action_says_that_it_does_not() -> None:
    said = [
        path.name
        for path in sorted((PLUGINS / "action").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assign) and ast.unparse(node) == "_supports_check_mode = False"
    ]
    assert said == []
