# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module nccl_host."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction


class ActionModule(VerifyAction):
    """What the inventory says of the host, and nothing of lock, waivers and bundles."""

    def arguments(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The module's arguments, with the inventory's word in place of what is left out."""
        if args.get("expect") is None:
            args["expect"] = self.variable("ibready_expect", dict, "dictionary", variables)
        args["expect"] = self.with_roles(args["expect"], variables)
        args["expect"] = self.with_nccl(args["expect"], variables)
        return args
