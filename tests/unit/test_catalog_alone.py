"""A module brings the areas that it judges and no others: each has to have its checks in the catalog by itself."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import AREAS
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

ROOT = Path(__file__).parents[2]
SHELF = ROOT / "plugins/module_utils"
NAME = "ansible_collections.ibready.cluster.plugins.module_utils"
ALONE = """
import importlib, json, sys
sys.path[:0] = [sys.argv[1]]
for name in json.loads(sys.argv[2]):
    importlib.import_module(name)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import CATALOG
print(json.dumps(sorted(CATALOG)))
"""


def named(folder: Path) -> set[str]:
    """The ids that the files of a folder name as whole strings."""
    return {
        node.value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in CATALOG
    }


@pytest.mark.parametrize("room", [*(f"_areas/{area}" for area in AREAS), "_fleet", "_rails"])
def test_a_room_has_the_checks_that_it_names(room: str) -> None:
    folder = SHELF / room
    modules = [f"{NAME}.{room.replace('/', '.')}.{path.stem}" for path in sorted(folder.glob("[a-z]*.py"))]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(ROOT / "collections"), json.dumps(modules)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert named(folder) - set(json.loads(done.stdout)) == set()
