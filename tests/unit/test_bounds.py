# SPDX-License-Identifier: GPL-3.0-or-later
"""No task of a playbook or a role waits for a node without a bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import pack
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import playbook_options
from tests.unit.docs import known

ROOT = Path(__file__).parents[2]
BOOKS = sorted([*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "playbooks/parts").glob("*.yml")])
OURS = "ibready.cluster."
CORE = "ansible.builtin."
INCLUDES = {f"{CORE}include_tasks", f"{CORE}import_tasks"}
# What Ansible does without the node.
HERE = {f"{CORE}{name}" for name in ("assert", "debug", "fail", "group_by", "include_vars", "meta", "set_fact")}
# At which a package manager or a compiler is at work: of ours the code tells, of Ansible's the name.
SLOW = re.compile(r"_act\.(?:packages|snapshot|driver\.nvidia_build)|_LIMIT_S = [6-9]\d\d|stack_bundle_files\"")
PACKAGES = {f"{CORE}apt", f"{CORE}dnf", f"{CORE}package"}
# Options with which a module itself waits.
WAITS = {"timeout", "reboot_timeout"}
_KIND = re.compile(r"ibready_(visit|packages)_timeout \| default\((\d+)\)")


@dataclass(frozen=True)
class Asked:
    """A task that asks a node, by the module, with the bound that it or what it is in has."""

    where: str
    module: str
    args: Mapping[str, Any]
    bound: str

    @property
    def kind(self) -> str:
        found = _KIND.search(self.bound)
        return found[1] if found else ""


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _module(task: Mapping[str, Any]) -> str:
    return next((key for key in task if "." in key), "")


def _named(given: Any, place: Path) -> list[str]:
    """The files that an include may mean, by the variables of its role where it does not name one."""
    name = str(given["file"] if isinstance(given, Mapping) else given)
    variable = re.fullmatch(r"{{ (\w+) }}", name)
    if not variable:
        return [name]
    return re.findall(r"\w+\.yml", str(_read(place.parent / "vars/main.yml")[variable[1]])) or [name]


def _walk(tasks: Sequence[Any], place: Path, bound: str, seen: set[Path]) -> Iterator[Asked]:
    for task in tasks:
        module = _module(task)
        own = str(task.get("timeout", bound))
        args = task.get(module) if isinstance(task.get(module), Mapping) else {}
        if "block" in task:
            inner = [*task["block"], *task.get("rescue", []), *task.get("always", [])]
            yield from _walk(inner, place, own, seen)
        elif module in INCLUDES:
            for name in _named(task[module], place):
                path = next(path for path in (place / name, place.parent / name) if path.exists())
                # Ansible hands on what an import has, and not what an include has.
                yield from _file(path, own if module.endswith("import_tasks") else bound, seen)
        elif module == f"{CORE}include_role":
            role = str(args["name"]).removeprefix(OURS)
            path = ROOT / "roles" / role / "tasks" / f"{args.get('tasks_from', 'main')}.yml"
            yield from _file(path, bound, seen)
        elif module not in HERE and task.get("delegate_to") != "localhost":
            yield Asked(f"{place.name}: {task['name']}", module, args, own)


def _file(path: Path, bound: str, seen: set[Path]) -> Iterator[Asked]:
    seen.add(path)
    yield from _walk(_read(path), path.parent, bound, seen)


@cache
def asked() -> tuple[list[Asked], set[Path]]:
    """Every task that asks a node, once for each way that leads to it, and the files that were met."""
    found: list[Asked] = []
    seen: set[Path] = set()
    for book in BOOKS:
        for play in _read(book):
            if play.get("hosts", "localhost") != "localhost":
                found += _walk(play.get("tasks", []), book.parent, str(play.get("timeout", "")), seen)
    return found, seen


def documented(kind: str) -> str:
    """The default that the inventory reference tells."""
    found = re.search(r"default (\d+)\)", playbook_options()[f"ibready_{kind}_timeout"]["description"])
    assert found
    return found[1]


@cache
def slow(module: str) -> bool:
    """Whether it may take hours. What the engine answers is a visit, whatever it reads."""
    short = module.removeprefix(OURS)
    if module in PACKAGES or not module.startswith(OURS) or short in pack.MODULES:
        return module in PACKAGES
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob(f"plugins/*/{short}.py")]
    return any(SLOW.search(text) for text in texts)


def test_every_task_that_asks_a_node_has_a_bound() -> None:
    every, _unused = asked()
    assert len(every) > 300
    assert sorted({one.where for one in every if not one.kind}) == []


def test_every_tasks_file_was_looked_at() -> None:
    _unused, seen = asked()
    there = {*(ROOT / "playbooks/tasks").glob("*.yml"), *ROOT.glob("roles/*/tasks/*.yml")}
    assert there - {path.resolve() for path in seen} == set()


@pytest.mark.parametrize("kind", ["visit", "packages"])
def test_a_bound_has_one_default(kind: str) -> None:
    told = {
        found
        for path in [*ROOT.glob("playbooks/**/*.yml"), *ROOT.glob("roles/*/tasks/*.yml")]
        for found in re.findall(rf"ibready_{kind}_timeout \| default\((\d+)\)", path.read_text(encoding="utf-8"))
    }
    assert told == {documented(kind)}


def test_packages_have_hours_and_what_only_looks_has_not() -> None:
    every, _unused = asked()
    # A snapshot that is only looked for is no matter of packages, nor is a question to the engine.
    looks = {"found", "settled"}
    wrong = [one.where for one in every if slow(one.module) is not (one.kind == "packages")]
    expected = {one.where for one in every if one.args.get("state") in looks or one.args.get("apply")}
    assert set(wrong) - expected == set()
    # In a playbook of the site's own, a role's packages have their bound as well.
    for path in ROOT.glob("roles/*/tasks/*.yml"):
        found = list(_walk([task for task in _read(path) if _module(task) not in INCLUDES], path.parent, "", set()))
        assert [one.where for one in found if slow(one.module) and one.kind != "packages"] == []


def test_a_bound_is_longer_than_the_task_itself_waits() -> None:
    every, _unused = asked()
    short = []
    for one in every:
        waits = {name for key in WAITS for name in re.findall(r"\b[a-z_]+_timeout\b", str(one.args.get(key, "")))}
        # Error counters are read twice, and ncclverify reads none.
        short_name = one.module.removeprefix(OURS)
        if short_name in known.MODULES - {"ncclverify"} and "pause" in known.options(short_name):
            waits.add("ibready_counter_pause")
        short += [f"{one.where}: {name}" for name in sorted(waits) if name not in one.bound]
    assert sorted(set(short)) == []
