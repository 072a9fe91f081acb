# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever of one host decides anything of another stands in the table of docs/security.md, with its second witness.

Other hosts' answers come in by three doors, which are found in the code: functions that return checks by host, filters
that are given ``hostvars``, and plugins that read them.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
TITLE = "## What one host says of another"
_JUDGES = re.compile(r"(dict|Mapping|defaultdict)\[str, (list|Sequence|tuple)\[Check\b")
_CODE = re.compile(r"`([^`]+)`")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name(path: Path) -> str:
    return str(path.relative_to(PLUGINS))


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef))


def judges() -> set[str]:
    """Files with a function that returns checks by host, however they come by them."""
    return {
        name(path)
        for path in PLUGINS.rglob("*.py")
        for one in functions(path)
        if one.returns is not None and _JUDGES.search(ast.unparse(one.returns))
    }


def filters() -> set[str]:
    path = PLUGINS / "plugin_utils/_playbooks/filters.py"
    return {
        one.name
        for one in functions(path)
        if not one.name.startswith("_") and any(arg.arg == "hostvars" for arg in (*one.args.args, *one.args.kwonlyargs))
    }


def readers() -> set[str]:
    """Plugins that Ansible runs on the controller and that read variables of other hosts."""
    return {
        name(path)
        for folder in ("action", "callback", "filter", "lookup", "connection", "inventory", "vars", "strategy")
        for path in (PLUGINS / folder).glob("*.py")
        if any(isinstance(node, ast.Constant) and node.value == "hostvars" for node in ast.walk(parsed(path)))
    }


def ids(path: Path) -> set[str]:
    """The checks that a file names, in whole or but for what is put in."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and node.value in CATALOG:
            found.add(node.value)
        if isinstance(node, ast.JoinedStr):
            pattern = "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
            if re.fullmatch(r"(\w+|\*)\.\w+\.(\w+|\*)", pattern):
                # What may be put in first stands beside it: {'fabric' if ... else 'container'}.
                areas = {word.value for word in ast.walk(node.values[0]) if isinstance(word, ast.Constant)}
                known = {id_ for id_ in CATALOG if fnmatchcase(id_, pattern)}
                found |= {id_ for id_ in known if pattern[0] != "*" or id_.split(".")[0] in areas}
    return found


def beside(path: Path) -> set[Path]:
    """The file, and those of its folder that it imports: they make checks for it."""
    names = {
        alias.name if node.module is None else node.module
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    return {path, *(near for one in names if (near := path.parent / f"{one}.py").is_file())}


def rows() -> list[list[str]]:
    """Fact, checks, where, second witness."""
    section = (ROOT / "docs/security.md").read_text().split(TITLE, 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[1:] if not line.startswith("|--")
    ]


def listed(column: int) -> set[str]:
    return {word for row in rows() for word in _CODE.findall(row[column])}


def test_every_door_by_which_other_hosts_answers_come_is_in_the_table() -> None:
    doors = judges() | filters() | readers()
    assert {"module_utils/_fleet/ping.py", "fabric_plan", "action/report.py"} <= doors
    assert listed(2) == doors


def test_every_check_that_takes_other_hosts_is_in_the_table() -> None:
    used = {id_ for judge in judges() for path in beside(PLUGINS / judge) for id_ in ids(path)}
    patterns = listed(1)
    assert {"fleet.hca.model", "fabric.hca.present", "fabric.ping.loss"} <= used
    assert {id_ for id_ in used if not any(fnmatchcase(id_, pattern) for pattern in patterns)} == set()
    assert {pattern for pattern in patterns if not any(fnmatchcase(id_, pattern) for id_ in used)} == set()


def test_every_row_says_what_the_second_witness_is() -> None:
    for row in rows():
        assert len(row) == 4
        assert all(len(cell) > 1 for cell in row), row
