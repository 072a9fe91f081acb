# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager


@pytest.fixture
def inventory(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Task variables as Ansible has them over an inventory: ``n1={...}`` are a host's own."""

    def load(shared: dict[str, Any] | None = None, **hosts: dict[str, Any]) -> dict[str, Any]:
        path = tmp_path / "inventory.yml"
        path.write_text(json.dumps({"all": {"hosts": hosts, "vars": shared or {}}}))
        loader = DataLoader()
        manager = InventoryManager(loader, sources=[str(path)])
        variables = VariableManager(loader, manager)
        return {
            "hostvars": HostVars(manager, variables, loader),
            "groups": {"all": list(hosts)},
            "inventory_hostname": next(iter(hosts), "localhost"),
        }

    return load


@pytest.fixture
def action() -> Callable[..., ActionBase]:
    """An action plugin as a task makes it, but with a connection that leads nowhere."""

    def make(kind: type[ActionBase], task_vars: dict[str, Any], args: dict[str, Any]) -> ActionBase:
        task = Task()
        task.action = kind.__module__.rpartition(".")[2]
        task.args = args
        nowhere: Any = SimpleNamespace(_shell=SimpleNamespace(tmpdir="/nonexistent"))
        loader = DataLoader()
        return kind(task, nowhere, PlayContext(), loader, Templar(loader, task_vars))

    return make


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the action displays."""
    texts: list[str] = []
    monkeypatch.setattr("ansible.plugins.action.display.display", lambda text, *_, **__: texts.append(text))
    return texts
