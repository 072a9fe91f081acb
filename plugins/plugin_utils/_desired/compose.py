# SPDX-License-Identifier: GPL-3.0-or-later
"""What a role wants of a host, read from the role's own tasks.

The tasks say it already, so nothing is said twice: each is followed as Ansible would on a host where
nothing is to be done, its conditions and options are resolved with the role's variables, and what it
states becomes an item. A later task may go by what an earlier one registered; how that looks at rest
the role says in ``__<role>_rest``, and the host has to agree. Whatever cannot be followed makes the
role look for itself: there is no task that is left out silently.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ...module_utils._desired.compare import MODULES
from .items import Item, Wanted

_ROLES = Path(__file__).resolve().parents[3] / "roles"
_OURS = "ibready.cluster."
_CORE = "ansible.builtin."
# For a comparison it is enough that something differs: what would come of it the role finds out.
_BRIEF = {f"{_OURS}stack_packages": {"simulate": False}}
# What says or gathers something and states nothing.
_SILENT = {f"{_CORE}debug", f"{_CORE}setup"}
_STATES = {f"{_CORE}{name}" for name in ("copy", "file", "systemd_service", "stat", "command")}
_COMPARED = {f"{_OURS}{name}" for name in MODULES}
# What of a task is read, beside its action: anything else makes the role look for itself.
_READ = {
    *("name", "when", "register", "vars", "tags", "loop", "loop_control", "notify", "changed_when"),
    *("check_mode", "become", "run_once", "delegate_to", "block", "rescue", "always", "timeout"),
}


class Composer:
    """Follows the roles of one host. ``known``: answers of modules that were asked before, by name."""

    def __init__(
        self, templar: Templar, loader: DataLoader, variables: Mapping[str, Any], known: Mapping[str, Any]
    ) -> None:
        self._templar = templar
        self._loader = loader
        self._variables = variables
        self._known = known

    def role(self, name: str) -> Wanted:
        """All that this role of ours wants."""
        home = _ROLES / name
        own: dict[str, Any] = {
            "role_path": str(home),
            "ansible_search_path": [str(home), str(home / "tasks")],
            "ansible_check_mode": False,
            "ansible_role_name": name,
            **self.file(home / "vars/main.yml", {}),
        }
        scope = ChainMap(own, dict(self._variables), self.file(home / "defaults/main.yml", {}))
        walk = _Walk(self, home, Wanted(name), scope)
        walk.tasks(self.file(home / "tasks/main.yml", []), scope)
        return walk.wanted

    def value(self, given: Any, scope: ChainMap[str, Any]) -> Any:
        """What a template, or a structure that holds templates, comes to; raises AnsibleError."""
        return self._templar.copy_with_new_env(available_variables=scope).template(given)

    def holds(self, given: Any, scope: ChainMap[str, Any]) -> bool:
        """Whether a condition, or all of a list, holds; raises AnsibleError."""
        engine = self._templar.copy_with_new_env(available_variables=scope)
        every = given if isinstance(given, list) else [given]
        return all(engine.evaluate_conditional(entry) for entry in every)

    def answer(self, module: str) -> Any:
        """What a module answered before; None where it was not asked."""
        return self._known.get(module.removeprefix(_OURS))

    def file(self, path: Path, otherwise: Any = None) -> Any:
        """What a file of the role holds; raises AnsibleError where it has to be there and is not."""
        if otherwise is not None and not path.exists():
            return otherwise
        # Nobody changes what was read, so no copy is made of it.
        return self._loader.load_from_file(str(path), unsafe=True, trusted_as_template=True) or otherwise


class _Walk:
    """One role, followed task by task."""

    def __init__(self, composer: Composer, home: Path, wanted: Wanted, scope: ChainMap[str, Any]) -> None:
        self._composer = composer
        self._home = home
        self._scope = scope
        self.wanted = wanted

    def _at_rest(self, register: Any, scope: ChainMap[str, Any]) -> Mapping[str, Any]:
        """What the role says of an answer where nothing is to be done; raises AnsibleError."""
        every = self._scope.get(f"__{self.wanted.role}_rest", {})
        return self._composer.value(every.get(register, {}), scope) if isinstance(every, Mapping) else {}

    def tasks(self, tasks: Sequence[Mapping[str, Any]], scope: ChainMap[str, Any]) -> None:
        for task in tasks:
            inner = scope.new_child(dict(task.get("vars") or {})) if task.get("vars") else scope
            try:
                self._task(task, inner)
            except (AnsibleError, KeyError, TypeError, ValueError) as exc:
                self._unsure(str(task.get("name")), exc)

    def _task(self, task: Mapping[str, Any], scope: ChainMap[str, Any]) -> None:
        action = next((key for key in task if "." in key), "")
        if action in _SILENT:
            return
        known = self._composer.answer(action) if action else None
        if known is not None and task.get("register"):
            self._register(task, known)
            return
        if action == f"{_CORE}set_fact" and task.get("run_once") and all(name in scope for name in task[action]):
            return  # It was found for all hosts before.
        if "loop" not in task and not self._composer.holds(task.get("when", True), scope):
            self._register(task, {"changed": False, "skipped": True})
            return
        foreign = _foreign(task, action)
        if foreign:
            self._look(task, foreign)
        elif "loop" in task:
            self._loop(task, action, scope)
        elif "block" in task:
            self.tasks([*task["block"], *task.get("always", [])], scope)
        else:
            self._one(task, action, scope)

    def _loop(self, task: Mapping[str, Any], action: str, scope: ChainMap[str, Any]) -> None:
        """Each round by itself; what they register together is for the role alone."""
        for entry in self._composer.value(task["loop"], scope):
            inner = scope.new_child({"item": entry})
            if self._composer.holds(task.get("when", True), inner):
                self._one({key: value for key, value in task.items() if key != "register"}, action, inner)

    def _one(self, task: Mapping[str, Any], action: str, scope: ChainMap[str, Any]) -> None:
        args: Any = task.get(action) if action else None
        if action in (f"{_CORE}include_tasks", f"{_CORE}import_tasks"):
            self._include(args, scope)
        elif action == f"{_CORE}include_vars":
            path = self._composer.value(args, scope)
            self._scope.maps[0].update(self._composer.file(self._inside(path, "vars")))
        elif action == f"{_CORE}set_fact":
            self._scope.maps[0].update(self._composer.value(args, scope))
        elif action == f"{_CORE}assert":
            if not self._composer.holds(args["that"], scope):
                self._look(task, "it would be refused")
        elif action == f"{_CORE}meta" and args == "flush_handlers":
            return
        elif action == f"{_CORE}template":
            self._item(task, f"{_CORE}copy", self._rendered(args, scope), scope)
        elif action in _STATES or action in _COMPARED:
            self._item(task, action, args or {}, scope)
        else:
            self._look(task, f"{action or 'it'} states nothing that could be compared")

    def _include(self, args: Any, scope: ChainMap[str, Any]) -> None:
        name = self._composer.value(args["file"] if isinstance(args, Mapping) else args, scope)
        self.tasks(self._composer.file(self._inside(name, "tasks")), scope)

    def _inside(self, name: str, folder: str) -> Path:
        path = Path(name)
        return path if path.is_absolute() else self._home / folder / name

    def _rendered(self, args: Mapping[str, Any], scope: ChainMap[str, Any]) -> dict[str, Any]:
        text = trust_as_template(f"{{{{ lookup('ansible.builtin.template', '{args['src']}') }}}}")
        return {**{key: value for key, value in args.items() if key != "src"}, "content": text}

    def _item(self, task: Mapping[str, Any], action: str, args: Any, scope: ChainMap[str, Any]) -> None:
        only_looks = task.get("changed_when") is False or task.get("check_mode") in (True, False)
        if action == f"{_CORE}command" and not only_looks and "creates" not in args:
            self._look(task, "a command is run")
            return
        rest = self._at_rest(task.get("register"), scope)
        if action in (f"{_CORE}command", f"{_CORE}stat") and "creates" not in args and not rest:
            self._look(task, "its answer is not known beforehand")
            return
        want = {**self._composer.value(args, scope), **_BRIEF.get(action, {})}
        name = str(self._composer.value(task["name"], scope))
        self.wanted.items.append(Item(self.wanted.role, name, action, want, rest))
        self._register(task, {"changed": False, **rest})

    def _register(self, task: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        if task.get("register"):
            self._scope.maps[0][str(task["register"])] = answer

    def _look(self, task: Mapping[str, Any], why: str) -> None:
        self.wanted.always.append(f"{task.get('name')}: {why}")

    def _unsure(self, name: str, exc: Exception) -> None:
        said = str(getattr(exc, "message", "") or exc).partition("\n")[0]
        self.wanted.always.append(f"{name}: {said or type(exc).__name__}")


def _foreign(task: Mapping[str, Any], action: str) -> str:
    """Why a task cannot be followed, by its keywords; empty where it can."""
    read = {*_READ, action}
    # A look that fails answers otherwise than at rest.
    if task.get("changed_when") is False:
        read.add("failed_when")
    foreign = sorted(set(task) - read) or ([action] if action and "block" in task else [])
    apply = task[action].get("apply", {}) if isinstance(task.get(action), Mapping) else {}
    if action.endswith("_tasks") and isinstance(apply, Mapping):
        foreign += sorted(set(apply) - {"tags"})
    if foreign:
        return f"its {foreign[0]} is not followed"
    # What is demanded of all hosts is demanded of each.
    once = task.get("run_once") and action != f"{_CORE}assert"
    if once or task.get("delegate_to") or task.get("become") is False:
        return "it is for several hosts together"
    return ""
