"""The rooms of the code: who may import from whom, as docs/architecture.md lists them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
PAGE = ROOT / "docs" / "architecture.md"
WHOLE = "ansible_collections.ibready.cluster.plugins."
SHELVES = ("module_utils", "plugin_utils")
FILES = {path.relative_to(PLUGINS).with_suffix("").parts: path for path in PLUGINS.rglob("*.py")}

Module = tuple[str, ...]


def listed() -> dict[str, list[str]]:
    """The rooms of each shelf, lowest first."""
    rooms: dict[str, list[str]] = {}
    shelf = ""
    for line in PAGE.read_text().splitlines():
        if found := re.match(r"    plugins/(\S+)/ ", line):
            shelf = found[1] if found[1] in SHELVES else ""
        elif shelf and (found := re.match(r"      (_\S+)/(?: |$)", line)):
            rooms.setdefault(shelf, []).append(found[1])
    return rooms


LISTED = listed()


def imports(module: Module) -> list[Module]:
    """The modules of ours that it imports."""
    found: list[Module] = []
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        said = tuple(node.module.split(".")) if node.module else ()
        if node.level:
            base = module[: -node.level] + said
        elif (node.module or "").startswith(WHOLE):
            base = said[WHOLE.count(".") :]
        else:
            continue
        for alias in node.names:
            exact = (*base, alias.name)
            found.append(exact if exact in FILES else base)
    return found


IMPORTS = {module: imports(module) for module in FILES}


def rank(folder: Module) -> int:
    """Where the room of a folder is in its shelf's list; a part of a room is in it."""
    rooms = LISTED[folder[0]]
    inside = "/".join(folder[1:])
    mine = [room for room in rooms if inside == room or inside.startswith(f"{room}/")]
    assert mine, f"docs/architecture.md lists no room for {'/'.join(folder)}"
    return rooms.index(max(mine, key=len))


def test_both_shelves_are_listed() -> None:
    assert set(LISTED) == set(SHELVES)
    for shelf, rooms in LISTED.items():
        assert [room for room in rooms if not (PLUGINS / shelf / room).is_dir()] == []


def test_every_import_finds_its_file() -> None:
    packages = {module[:-1] for module in FILES if module[-1] == "__init__"}
    lost = {
        (module, target)
        for module, targets in IMPORTS.items()
        for target in targets
        if target not in FILES and target not in packages
    }
    assert lost == set()


@pytest.mark.parametrize("shelf", SHELVES)
def test_a_room_imports_from_itself_and_from_rooms_above_it(shelf: str) -> None:
    wrong = []
    for module, targets in IMPORTS.items():
        if module[0] != shelf or len(module) < 3:
            continue
        for target in targets:
            if target[0] == shelf and rank(target[:-1]) > rank(module[:-1]):
                wrong.append(f"{'/'.join(module)} imports {'/'.join(target)}")
    assert wrong == []


def test_nodes_get_nothing_of_the_controllers() -> None:
    wrong = [
        (module, target)
        for module, targets in IMPORTS.items()
        for target in targets
        if module[0] in ("module_utils", "modules") and target[0] not in ("module_utils", "doc_fragments")
    ]
    assert wrong == []


def test_no_circle_of_folders() -> None:
    edges: dict[Module, set[Module]] = {}
    for module, targets in IMPORTS.items():
        near = edges.setdefault(module[:-1], set())
        near.update(target[:-1] for target in targets if target[:-1] != module[:-1])
    left = {folder: set(near) for folder, near in edges.items()}
    while free := [folder for folder, near in left.items() if not near & set(left)]:
        for folder in free:
            del left[folder]
    assert left == {}


def test_imports_are_relative_where_they_can_be() -> None:
    doors = ("action", "filter", "callback", "doc_fragments")
    wrong = [
        "/".join(module)
        for module, path in FILES.items()
        if module[0] not in doors and f"from {WHOLE}" in path.read_text()
    ]
    assert wrong == []


# A path below a shelf, as prose writes it: _evidence/sources, _areas/AREA/check_*.py, _fleet/cluster.report.
_PATH = re.compile(r"(?<![\w/.-])(_[a-z]+(?:/[\w*{}-]+)+)")
_PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "tests").rglob("*.md"))]


def test_every_file_that_comments_and_pages_name_exists() -> None:
    lost = []
    rooms = {path.name for shelf in SHELVES for path in (PLUGINS / shelf).iterdir()}
    for page in (*FILES.values(), *_PAGES):
        for named in _PATH.findall(page.read_text()):
            exact = re.sub(r"[A-Z]{2,}|\{.*?\}", "*", named)
            if named.split("/")[0] in rooms and not any(
                [*(PLUGINS / shelf).glob(exact), *(PLUGINS / shelf).glob(f"{exact}.*")] for shelf in SHELVES
            ):
                lost.append(f"{page.relative_to(ROOT)}: {named}")
    assert lost == []
