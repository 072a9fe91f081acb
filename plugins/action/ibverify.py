# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the module ibverify what the inventory expects, also in ad hoc use.

Only the controller knows the inventory; the node does the looking and judging.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Pass everything on to the module, with O(expect) defaulting to ``ibready_expect``."""

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        args = dict(self._task.args)
        if args.get("expect") is None:
            expect = self._templar.template(variables.get("ibready_expect", {}))
            if not isinstance(expect, dict):
                raise AnsibleActionFail(
                    f"ibready_expect of {variables.get('inventory_hostname')} must be a "
                    f"dictionary, not {type(expect).__name__}"
                )
            args["expect"] = expect
        result.update(
            self._execute_module(
                module_name="ibready.cluster.ibverify", module_args=args, task_vars=variables
            )
        )
        return result
