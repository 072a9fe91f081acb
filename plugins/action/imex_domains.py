# SPDX-License-Identifier: GPL-3.0-or-later
"""Say once for all hosts which of them share GPU memory by IMEX.

Runs on the controller, for only it knows all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import imex
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``imex_domains``."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {"hosts": {"type": "list", "elements": "str", "required": True}}

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        return {"changed": False, "domains": imex.domains(variables["hostvars"], args["hosts"])}
