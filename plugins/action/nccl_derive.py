# SPDX-License-Identifier: GPL-3.0-or-later
"""Derive the nccl.conf of every host from what all of them told.

Runs on the controller, for what must be the same on all nodes of a RoCE fabric no node can know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import SHARED
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Derived
from ansible_collections.ibready.cluster.plugins.plugin_utils import _nccl_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain

_TOLD = "__nccl_host"


class ActionModule(ActionBase):
    """The whole of the module ``nccl_derive``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "compare"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "compare": {"type": "list", "elements": "str", "default": []},
            }
        )
        hostvars = (task_vars or {})["hostvars"]
        every = dict.fromkeys([*args["hosts"], *args["compare"]])
        try:
            nodes = {
                name: _nccl_plan.told(name, found["nccl_host"], found.get("wish"))
                for name in every
                if (found := _found(hostvars, name)) is not None
            }
        except _nccl_plan.ToldError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        absent = [name for name in every if name not in nodes]
        mine = [name for name in args["hosts"] if name in nodes]
        derived = _nccl_plan.plan(nodes, mine, absent)
        self._warn(derived)
        # Such a line is not taken back for some of the nodes.
        shared = SHARED if absent else ()
        found = {name: _host(one, shared) for name, one in derived.items()}
        result.update(changed=False, hosts=found, absent=absent)
        return result

    def _warn(self, derived: Mapping[str, Derived]) -> None:
        """What is not written, once for all hosts that it is the same for."""
        same: dict[tuple[str, str], list[str]] = {}
        for name, one in derived.items():
            for lacking in one.untold:
                same.setdefault((lacking.name, lacking.why), []).append(name)
        for (variable, why), names in same.items():
            said = f"{', '.join(names)}: {variable} is not written: {why}"
            self._display.warning(plain(said))


def _found(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    result = hostvars[name].get(_TOLD) if name in hostvars else None
    return result if isinstance(result, Mapping) and "nccl_host" in result else None


def _host(one: Derived, shared: tuple[str, ...]) -> dict[str, Any]:
    return {
        **one.to_dict(),
        "settings": [
            {"name": line.name, "value": line.value, "reason": line.reason} for line in one.settings
        ],
        "keep": sorted({*shared, *(lacking.name for lacking in one.untold)}),
    }
