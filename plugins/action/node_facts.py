# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of node_facts, a host's first word: whether it is to be believed."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action.group_by import ActionModule as GroupBy

from ansible_collections.ibready.cluster.plugins.plugin_utils._engine.ask import EngineAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import where
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import trust


class ActionModule(EngineAction):
    """Fail for a host that sends variables of ours beside its facts: it takes no further part."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        args = dict(self._task.args)
        group = args.pop("group", None)
        args.setdefault("offers", where.archive(self._templar.template, task_vars or {}))
        result.update(self._execute_module(module_args=args, task_vars=task_vars))
        trust.refuse(result, "node")
        if group and "node" in result:
            # As one with the contact, for a task costs on every host.
            result.update(self._grouped(str(group), task_vars))
        return result

    def _grouped(self, group: str, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """What Ansible's own group_by does and answers, which differs from release to release."""
        task = self._task.copy()
        task.args = {"key": group}
        by = GroupBy(task, self._connection, self._play_context, self._loader, self._templar, self._shared_loader_obj)
        done: dict[str, Any] = by.run(task_vars=task_vars)
        return done
