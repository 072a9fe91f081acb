# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module collect: what the inventory expects goes into the bundle."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction


class ActionModule(VerifyAction):
    """Pass everything on, with the expectations that a verify of the host goes by."""

    def arguments(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The module's arguments; it judges nothing, so that waivers and the like are none of it."""
        return {**args, "expect": self.expected(args.get("expect"), variables)}
