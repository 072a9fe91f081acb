# SPDX-License-Identifier: GPL-3.0-or-later
"""Say once for all hosts where the nodes are.

Runs on the controller, for only it knows the inventory.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils import _nccl


class ActionModule(ActionBase):
    """The whole of the module ``nccl_peers``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts",))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={"hosts": {"type": "list", "elements": "str", "required": True}}
        )
        hostvars = (task_vars or {})["hostvars"]
        names = _nccl.nodes(hostvars, args["hosts"])
        result.update(changed=False, peers=_nccl.peers(hostvars, names, _nccl.MOST_PEERS))
        return result
