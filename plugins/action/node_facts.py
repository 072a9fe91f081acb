# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of node_facts, a host's first word: whether it is to be believed."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import trust


class ActionModule(ActionBase):
    """Fail for a host that sends variables of ours beside its facts: it takes no further part."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        result.update(self._execute_module(task_vars=task_vars))
        why = trust.why_not(result.get("ansible_facts"))
        if why:
            result.pop("node", None)
            result.update(failed=True, msg=f"{why}. Next: {trust.REMEDY}")
        return result
