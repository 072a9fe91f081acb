# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the variables of every host before any of them is touched.

Runs on the controller: only there are the variables of all hosts known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils import _variables

_ROLES = Path(__file__).resolve().parents[2] / "roles"


class ActionModule(ActionBase):
    """The whole of the module ``validate_variables``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts",))

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={"hosts": {"type": "list", "elements": "str", "required": True}}
        )
        if not args["hosts"]:
            raise AnsibleActionFail(
                "the inventory (or --limit) names no host; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        options = role_options()
        hostvars = (task_vars or {})["hostvars"]
        found: dict[str, list[str]] = {}
        for host in args["hosts"]:
            for problem in _variables.problems(hostvars[host], options):
                found.setdefault(problem, []).append(host)
        if found:
            said = "; ".join(f"{', '.join(hosts)}: {text}" for text, hosts in found.items())
            raise AnsibleActionFail(f"{said}. Nothing was changed on any host.")
        result.update(changed=False, hosts=args["hosts"])
        return result


def role_options() -> dict[str, dict[str, Any]]:
    """The options of every role's main entry point, from its argument spec."""
    return {
        path.parents[1].name: yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]
        for path in sorted(_ROLES.glob("*/meta/argument_specs.yml"))
    }
