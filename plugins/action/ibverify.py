# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module ibverify."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction

# What the module brings with it (plugins/modules/ibverify.py: OWN).
_OWN = frozenset({"host", "pci", "ib", "roce", "fabric"})


class ActionModule(VerifyAction):
    """Where other areas are asked for, the module that brings all of them is sent."""

    def module(self, args: Mapping[str, Any]) -> str:
        areas = args.get("areas") or ()
        asked = areas.split(",") if isinstance(areas, str) else areas
        return "ibverify" if {str(area).strip() for area in asked} <= _OWN else "hostverify"
