# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller installs what it imports and nothing else; tests complete what a controller has."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.tools.test_run_report import function

ROOT = Path(__file__).resolve().parents[3]
CONTROLLER = ROOT / "requirements.txt"
TESTS = ROOT / "requirements-test.txt"
SITE = ROOT / "requirements-site.txt"
# Ansible itself, and what the standard library or this repository has.
NOBODYS = {"ansible_collections", "__future__", *sys.stdlib_module_names}
DISTRIBUTIONS = {"ansible": "ansible-core", "yaml": "pyyaml"}


def pins(path: Path, heading: str = "") -> dict[str, str]:
    """What a file pins, or one heading of it: the version by the name."""
    text = path.read_text()
    if heading:
        text = text.partition(f"# {heading}\n")[2].partition("\n\n")[0]
    lines = [line for line in text.splitlines() if line and line[0] not in "#-"]
    found = dict(line.split("==") for line in lines)
    assert len(found) == len(lines)
    return {canonicalize_name(name): version for name, version in found.items()}


def imported(paths: Iterable[Path]) -> set[str]:
    """The packages of others that these files import, wherever in them."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add((node.module or "").partition(".")[0])
    return found - NOBODYS


def needed(names: Iterable[str]) -> set[str]:
    """These distributions and all that they need, as installed here."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found.add(name)
            asked = map(Requirement, importlib.metadata.requires(name) or ())
            left += [ask.name for ask in asked if ask.marker is None or ask.marker.evaluate({"extra": ""})]
    return found


def test_a_controller_names_what_its_code_imports() -> None:
    # Those of module_utils run on nodes, too: tests/unit/test_rooms.py.
    files = (path for path in (ROOT / "plugins").rglob("*.py") if "module_utils" not in path.parts)
    names = {DISTRIBUTIONS.get(name, name) for name in imported(files)}
    assert names == set(pins(CONTROLLER, "Direct"))


def test_a_controller_installs_that_and_what_it_needs() -> None:
    assert set(pins(CONTROLLER)) == needed(pins(CONTROLLER, "Direct"))


def test_the_other_file_adds_to_the_first() -> None:
    assert TESTS.read_text().splitlines()[0] == f"-r {CONTROLLER.name}"
    assert not set(pins(TESTS)) & set(pins(CONTROLLER))
    assert needed(pins(TESTS, "Direct")) <= set(pins(TESTS)) | set(pins(CONTROLLER))


def test_each_direct_one_has_its_reason() -> None:
    rows = re.findall(r"^\| ([\w, -]+) \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    told = {canonicalize_name(name) for row in rows for name in row.split(", ")}
    assert {*pins(CONTROLLER, "Direct"), *pins(TESTS, "Direct"), *pins(SITE, "Direct")} - told == set()


def test_the_site_is_built_by_the_versions_that_the_tests_have() -> None:
    site, others = pins(SITE), {**pins(CONTROLLER), **pins(TESTS)}
    both = set(site) & set(others)
    assert {"ansible-core", "antsibull-docs", "sphinx"} <= both
    assert [name for name in both if site[name] != others[name]] == []


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("requirements", [CONTROLLER]),
        ("requirements-test", [CONTROLLER, TESTS]),
        ("requirements-site", [SITE]),
        ("importer-requirements", [ROOT / "tools/importer-requirements.txt"]),
        ("fuzz-requirements", [ROOT / "tests/fuzz/requirements.txt"]),
    ],
)
def test_what_is_installed_is_what_is_listed_and_each_file_has_its_hash(name: str, listed: list[Path]) -> None:
    found = re.findall(
        r"^(\S+)==(\S+) (?:\\\n +--hash=sha256:[0-9a-f]{64} ?)+$", (ROOT / f"pinned/{name}.txt").read_text(), re.M
    )
    assert dict(found) == {name: version for path in listed for name, version in pins(path).items()}


# What need_venv asks of the machine; a Python that notes what is asked of it.
STUBS = """set -euo pipefail
VENV="$PWD/.venv"
find_python() { printf '%s\\n' "$PWD/python"; }
step() { :; }
"""
PYTHON = """#!/bin/sh
echo "$*" >>"$HOME/asked"
case "$2" in
  venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  pip) echo said; exit "${PIP:-0}" ;;
esac
"""
WHOLE, ALONE = "requirements-test.txt", "requirements.txt"


class Checkout:
    """A place in which need_venv is called; ``python`` only notes its words."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for path in (CONTROLLER, TESTS):
            (place / path.name).write_bytes(path.read_bytes())
        (place / "python").write_text(PYTHON)
        (place / "python").chmod(0o755)

    def call(self, file: str = "", pip: int = 0) -> list[str]:
        """What was done: "new" for a new .venv, the name of the file that pip installed."""
        asked = self.place / "asked"
        asked.write_text("")
        script = f"{STUBS}{function('quietly')}\n{function('need_venv')}\nneed_venv {file}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.place,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.place), "PIP": str(pip)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (pip, "")
        # What pip says is shown where it fails.
        assert [line.split(" is in ")[0] for line in done.stderr.splitlines()] == ["said", "run: all that it printed"][
            : 2 * pip
        ]
        lines = asked.read_text().splitlines()
        return ["new" if " venv " in line else line.split()[-1].removeprefix("pinned/") for line in lines]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_venv_is_made_once(checkout: Checkout) -> None:
    assert checkout.call(ALONE) == ["new", ALONE]
    assert checkout.call(ALONE) == []


def test_a_controllers_venv_is_completed(checkout: Checkout) -> None:
    checkout.call(ALONE)
    assert checkout.call() == [WHOLE]
    assert checkout.call() == []


def test_a_whole_venv_has_what_a_controller_needs(checkout: Checkout) -> None:
    assert checkout.call() == ["new", WHOLE]
    assert checkout.call(ALONE) == []


def test_what_was_completed_half_way_is_made_anew(checkout: Checkout) -> None:
    checkout.call(ALONE)
    assert checkout.call(pip=1) == [WHOLE]
    assert checkout.call() == ["new", WHOLE]


@pytest.mark.parametrize("begun", [ALONE, ""])
@pytest.mark.parametrize("changed", [CONTROLLER.name, TESTS.name])
def test_another_pin_makes_it_anew(checkout: Checkout, begun: str, changed: str) -> None:
    checkout.call(begun)
    with (checkout.place / changed).open("a") as file:
        file.write("another==1\n")
    wanted = [WHOLE] if begun == ALONE and changed == TESTS.name else ["new", WHOLE]
    assert checkout.call() == wanted
