# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module collect: what the inventory expects goes into the bundle."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction


class ActionModule(VerifyAction):
    """Pass everything on, with the expectations that a verify of the host goes by."""

    def arguments(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The module's arguments; it judges nothing, so that waivers and the like are none of it."""
        expect = self.expected(args.get("expect"), variables)
        try:
            expect = self.with_lock(expect, variables)
        except AnsibleActionFail as exc:
            # Evidence is wanted most where something is broken.
            self._display.warning(f"{exc} The bundle carries nothing of the lock.")
        return {**args, "expect": expect}
