# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of node_facts, a host's first word: whether it is to be believed."""

from __future__ import annotations

from typing import Any

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
            # What group_by answers with, and the price of a task less on every host.
            result.update(add_group=str(group), parent_groups=["all"])
        return result
