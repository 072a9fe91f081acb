# SPDX-License-Identifier: GPL-3.0-or-later
"""Each plugin can be loaded first. Ansible leaves out, with a warning, what cannot: imports that go
in a circle show only by where they begin."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("action", "callback", "filter")
EACH = """
import importlib, sys
sys.path.insert(0, "collections")
for name in sys.argv[1:]:
    for known in [one for one in sys.modules if one.startswith("ansible_collections.ibready")]:
        del sys.modules[known]
    try:
        importlib.import_module(f"ansible_collections.ibready.cluster.plugins.{name}")
    except ImportError as exc:
        print(f"{name}: {exc}")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_each_plugin_can_be_the_first(kind: str) -> None:
    names = [f"{kind}.{path.stem}" for path in sorted((ROOT / "plugins" / kind).glob("*.py"))]
    assert names
    argv = [sys.executable, "-c", EACH, *names]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_each_module_begins_where_it_is_run() -> None:
    with_main = {
        path.name: ast.unparse(tree.body[-1])
        for path in sorted((ROOT / "plugins/modules").glob("*.py"))
        for tree in [ast.parse(path.read_text(encoding="utf-8"))]
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
    }
    assert len(with_main) > 50
    begins = "if __name__ == '__main__':\n    main()"
    assert [name for name, last in with_main.items() if last != begins] == []
