# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit tests nearest by import to what differs from the main branch, a file a line: `./run unit`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tools.lint_changed import changed

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "ansible_collections.ibready.cluster."
FOLDERS = ("plugins", "sandbox", "tools", "tests")
# Of each file that differs: mutants showed that the nearest few see most of what goes wrong.
MOST = 8


def imports(path: str, text: str) -> set[str]:
    """The dotted names that a file may import, with those that may be modules of a package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = Path(path).parent.parts[: len(Path(path).parent.parts) - node.level + 1]
            base = ".".join([*(above if node.level else ()), *([node.module] if node.module else ())])
            found |= {base, *(f"{base}.{one.name}" for one in node.names)}
    return {name.removeprefix(PACKAGE) for name in found}


def importers() -> dict[str, set[str]]:
    """Of each of our files, those that import it."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    paths = sorted(str(path.relative_to(ROOT)) for path in files)
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in paths}
    found: dict[str, set[str]] = {path: set() for path in paths}
    for path in paths:
        for name in imports(path, (ROOT / path).read_text()):
            if name in names:
                found[names[name]].add(path)
    return found


def nearest(path: str, known: dict[str, set[str]]) -> list[str]:
    """The unit tests that reach a file, those by the shortest chain and of its name first."""
    far, ring = {path: 0}, [path]
    while ring:
        further = {one for name in ring for one in known[name] if one not in far}
        far.update(dict.fromkeys(further, far[ring[0]] + 1))
        ring = sorted(further)
    stem = Path(path).stem.strip("_")
    tests = [one for one in far if one.startswith("tests/unit/") and Path(one).name.startswith("test_")]
    return sorted(tests, key=lambda one: (far[one], stem not in Path(one).stem, one))


def chosen(files: list[str]) -> list[str]:
    """The test files to run where these files differ; a test that differs is one of them."""
    known = importers()
    found: dict[str, None] = {}
    for path in files:
        if path in known:
            found.update(dict.fromkeys(nearest(path, known)[:MOST]))
    return list(found)


def main() -> int:
    files = changed()
    if files is None:
        print("unit: git does not tell what changed: use `./run unit all`", file=sys.stderr)
        return 1
    for path in chosen(files):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
