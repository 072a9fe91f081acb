# SPDX-License-Identifier: GPL-3.0-or-later
"""Derive the nccl.conf of every host from what all of them told.

Runs on the controller, for what must be the same on all nodes of a RoCE fabric no node can know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import SHARED
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Derived
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import nccl_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_TOLD = "__nccl_host"


class ActionModule(SiteAction):
    """The whole of the module ``nccl_derive``."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "compare": {"type": "list", "elements": "str", "default": []},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        hostvars = variables["hostvars"]
        every = dict.fromkeys([*args["hosts"], *args["compare"]])
        said = {name: found for name in every if (found := _found(hostvars, name)) is not None}
        nodes, refused = apart.each(said, lambda name: nccl_plan.told(said[name]))
        absent = [name for name in every if name not in nodes]
        mine = [name for name in args["hosts"] if name in nodes]
        derived = nccl_plan.plan(nodes, mine, absent)
        self._warn(derived)
        # Such a line is not taken back for some of the nodes.
        shared = SHARED if absent else ()
        found = {name: _host(entry, shared) for name, entry in derived.items()}
        for name, why in refused.items():
            self._display.warning(plain(f"{name}: nothing is derived for it: {why}"))
        return {
            "changed": False,
            "hosts": found,
            "absent": absent,
            "refused": refused,
        }

    def _warn(self, derived: Mapping[str, Derived]) -> None:
        """What is not written, once for all hosts that it is the same for."""
        same: dict[tuple[str, str], list[str]] = {}
        for name, entry in derived.items():
            for lacking in entry.untold:
                same.setdefault((lacking.name, lacking.why), []).append(name)
        for (variable, why), names in same.items():
            self._display.warning(plain(f"{', '.join(names)}: {variable} is not written: {why}"))


def _found(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    result = hostvars[name].get(_TOLD) if name in hostvars else None
    return result if isinstance(result, Mapping) and "nccl_host" in result else None


def _host(derived: Derived, shared: tuple[str, ...]) -> dict[str, Any]:
    return {
        **derived.to_dict(),
        "settings": [{"name": line.name, "value": line.value, "reason": line.reason} for line in derived.settings],
        "keep": sorted({*shared, *(lacking.name for lacking in derived.untold)}),
    }
