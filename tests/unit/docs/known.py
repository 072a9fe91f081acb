# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that pages may use: playbooks, commands, modules, variables, tags, checks."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.defined import registered
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import playbook_options, role_options
from tests.unit.docs.markdown import ROOT

ROLES = sorted(role_options())
VARIABLES = {*playbook_options(), *(name for one in role_options().values() for name in one)}
# Of the sandbox's own playbooks.
SANDBOX = {"sandbox_fault", "sandbox_node"}
OURS = (
    *("ibready_", "stack_", "diagnose_", "launch_", "smoke_", "bench_", "report_fail", "report_from"),
    *(f"{role}_" for role in ROLES),
)
MODULES = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")}
CALLBACKS = {path.stem for path in (ROOT / "plugins/callback").glob("*.py")}
# What people start; the others are parts of these.
PARTS = {path.stem for path in (ROOT / "playbooks/parts").glob("*.yml")}
PLAYBOOKS = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
# Of Ansible's commands, what ours are told with; those of the second line take a value.
FLAGS = {"-b", "--become", "--check", "-C", "--diff", "-D", "-K", "--ask-become-pass", "-o", "-v"}
VALUED = {"-i", "-e", "--extra-vars", "--limit", "-l", "--tags", "--skip-tags", "-f", "--forks"}
AD_HOC = {"-m", "-a"}


@cache
def tags() -> set[str]:
    """Every tag of a task of a role or playbook."""
    found: set[str] = set()
    for path in [*ROOT.glob("roles/*/tasks/*.yml"), *ROOT.glob("playbooks/**/*.yml")]:
        _collect(yaml.safe_load(path.read_text(encoding="utf-8")), found)
    return found


def _collect(node: Any, found: set[str]) -> None:
    if isinstance(node, dict):
        said = node.get("tags", [])
        found.update([said] if isinstance(said, str) else said)
    if isinstance(node, dict | list):
        for one in node.values() if isinstance(node, dict) else node:
            _collect(one, found)


@cache
def run_commands() -> set[str]:
    """What `./run` takes as its first word."""
    cases = (ROOT / "run").read_text(encoding="utf-8").rpartition('case "${1:-help}" in')[2]
    words = re.findall(r"^  ([a-z][a-z |-]*)\)", cases, re.MULTILINE)
    return {one.strip() for word in words for one in word.split("|")}


@cache
def options(module: str) -> set[str]:
    """The options that a module of ours documents, those of its fragments too."""
    text = (ROOT / f"plugins/modules/{module}.py").read_text(encoding="utf-8")
    documented = _documentation(text)
    found = set(documented.get("options", {}))
    for fragment in documented.get("extends_documentation_fragment", []):
        path = ROOT / f"plugins/doc_fragments/{fragment.rpartition('.')[2]}.py"
        if fragment.startswith("ibready.cluster."):
            found |= set(_documentation(path.read_text(encoding="utf-8")).get("options", {}))
    return found


def _documentation(text: str) -> dict[str, Any]:
    match = re.search(r'DOCUMENTATION = r"""\n(.*?)"""', text, re.DOTALL)
    assert match
    read: dict[str, Any] = yaml.safe_load(match[1])
    return read


@cache
def words() -> set[str]:
    """Every word of the code: variables, modules, fields of results, kernel modules and more."""
    found: set[str] = set(VARIABLES)
    for top in ("plugins", "roles", "playbooks", "sandbox"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".py", ".yml", ".j2", ".sh"):
                found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return found


@cache
def stems() -> set[str]:
    """What names are put together from: `ibready_look_` of an f-string or of a constant."""
    found: set[str] = set()
    for path in (ROOT / "plugins").rglob("*.py"):
        found.update(re.findall(r"\b([a-z]+_[a-z_]+_)[{\"]", path.read_text(encoding="utf-8")))
    return found


def is_in_code(name: str) -> bool:
    """Whether the code has this word, or both parts that it is put together from."""
    tails = (name.removeprefix(stem) for stem in stems() if name.startswith(stem))
    return name in words() or any(tail in words() for tail in tails)


def is_ours(name: str) -> bool:
    """Whether Ansible would take this name for a variable of ours."""
    return name.startswith(OURS) and name not in registered()
