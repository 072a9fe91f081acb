# SPDX-License-Identifier: GPL-3.0-or-later
"""Say once for all hosts from which addresses the nodes reach each other.

Runs on the controller, for only it knows the inventory.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils import _firewall_nodes
from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain


class ActionModule(ActionBase):
    """The whole of the module ``firewall_nodes``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "networks"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "networks": {"type": "list", "elements": "str", "default": []},
            }
        )
        hostvars = (task_vars or {})["hostvars"]
        try:
            found = _firewall_nodes.nodes(hostvars, args["hosts"], args["networks"])
        except _firewall_nodes.NodesError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        for text in _firewall_nodes.unseen(found):
            self._display.warning(plain(text))
        result.update(changed=False, nodes=found)
        return result
