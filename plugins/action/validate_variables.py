# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the variables of every host before any of them is touched.

Runs on the controller: only there are the variables of all hosts known.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import few
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import this_run
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import keepalive
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import (
    misspelt as _misspelt,
    variables as _variables,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import texts as _texts

# Hosts that a warning names.
_SHOWN = 4


class ActionModule(SiteAction):
    """The whole of the module ``validate_variables``."""

    SPEC: ClassVar[dict[str, Any]] = {"hosts": {"type": "list", "elements": "str", "required": True}}

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["hosts"]:
            raise AnsibleActionFail(
                "the inventory (or --limit) names no host; next: `ansible-inventory -i INVENTORY --graph`"
            )
        refused, odd = _misspelt.tags(
            variables.get("ansible_run_tags", ()), variables.get("ansible_skip_tags", ()), this_run.playbooks()
        )
        if refused:
            raise AnsibleActionFail(f"Nothing was changed on any host: {'; '.join(refused)}")
        options = _variables.role_options()
        hostvars = variables["hostvars"]
        found: dict[str, list[str]] = {}
        users: dict[str, list[str]] = {}
        for host in args["hosts"]:
            given = hostvars[host]
            for name in given:
                users.setdefault(name, []).append(host)
            for problem in _variables.problems(given, options):
                found.setdefault(problem, []).append(host)
        # As the report reads them: files of the controller, the same for all hosts.
        switches = _texts.of_hosts(hostvars, args["hosts"])
        for error in switches.errors if switches is not None else ():
            found[error] = args["hosts"][:1]
        if found:
            said = "; ".join(f"{', '.join(hosts)}: {text}" for text, hosts in found.items())
            raise AnsibleActionFail(f"{said}{'' if said.endswith('?') else '.'} Nothing was changed on any host.")
        told = {"changed": False, "hosts": args["hosts"]}
        # A site's own variable may look like that as well.
        near = [
            f"{few(users[name], _SHOWN)}: {name} is not a variable of ibready, and nothing here reads it;"
            f" did you mean {ours}?"
            for name, ours in _variables.near_misses(users, options).items()
        ]
        near += odd
        near += _misspelt.strays(inventory.sources(variables), variables.get("playbook_dir", ""), variables["groups"])
        near += filter(None, [keepalive.lacking(hostvars, args["hosts"])])
        return {**told, "warnings": near} if near else told
