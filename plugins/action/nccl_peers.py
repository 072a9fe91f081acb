# SPDX-License-Identifier: GPL-3.0-or-later
"""Say once for all hosts where the nodes are.

Runs on the controller, for only it knows the inventory.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import nccl_peers
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``nccl_peers``."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {"hosts": {"type": "list", "elements": "str", "required": True}}

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        hostvars = variables["hostvars"]
        names = nccl_peers.nodes(hostvars, args["hosts"])
        return {"changed": False, "peers": nccl_peers.peers(hostvars, names, nccl_peers.MOST_PEERS)}
