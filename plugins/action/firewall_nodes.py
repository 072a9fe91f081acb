# SPDX-License-Identifier: GPL-3.0-or-later
"""Say once for all hosts from which addresses the nodes reach each other.

Runs on the controller, for only it knows the inventory.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import firewall_nodes
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``firewall_nodes``."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "networks": {"type": "list", "elements": "str", "default": []},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        hostvars = variables["hostvars"]
        try:
            found = firewall_nodes.nodes(hostvars, args["hosts"], args["networks"])
        except firewall_nodes.NodesError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        for text in firewall_nodes.unseen(found):
            self._display.warning(plain(text))
        return {"changed": False, "nodes": found}
