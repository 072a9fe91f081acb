#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: host_desired
short_description: Hold a host against what the roles want of it, in one visit
version_added: 0.1.0
description:
  - Composes what is wanted of a host from the roles' own tasks, compares it with the host in one
    visit, and says which roles have to run. docs/desired.md tells how.
  - Asks the checks of M(ibready.cluster.hostverify) as well whether what was brought takes effect, or a later file
    undoes it, with the inventory's C(ibready_expect) and C(ibready_waivers).
  - Whatever cannot be compared makes its role run; nothing counts as equal that was not looked at.
  - Never changes the host.
options:
  roles:
    description: The roles of this collection, in the order in which they run.
    type: list
    elements: dict
    required: true
    suboptions:
      name: {type: str, required: true, description: The role.}
      wanted: {type: bool, default: true, description: Whether it runs on this host at all.}
      moves: {type: bool, default: false, description: Whether the roles after it run as well where it runs.}
  also:
    description: More to compare, under the name of whoever acts on it.
    type: list
    elements: dict
    default: []
    suboptions:
      role: {type: str, required: true, description: The name that RV(run) gets.}
      task: {type: str, required: true, description: What it is about.}
      kind: {type: str, required: true, description: "The module that would do it, with its full name."}
      want: {type: dict, required: true, description: That module's options.}
      rest: {type: dict, default: {}, description: What its answer says where nothing is to be done.}
  known:
    description: Answers of modules that were asked before, by the module's name.
    type: dict
    default: {}
  node:
    description: What M(ibready.cluster.node_facts) told of the host.
    type: dict
    default: {}
  compare:
    description: With V(never) the host is not asked, and every role is told to run.
    type: str
    choices: [visit, never]
    default: visit
  items:
    description: Filled by the action.
    type: list
    elements: dict
    default: []
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See what differs
  ibready.cluster.host_desired:
    node: "{{ ibready_node.node }}"
    roles:
      - {name: host_tuning}
      - {name: container_runtime}
  register: desired

- name: Tune the host where it is not as wanted
  ansible.builtin.include_role:
    name: ibready.cluster.host_tuning
  when: "'host_tuning' in desired.run"
"""

RETURN = r"""
compared: {type: bool, returned: success, description: Whether the host was asked.}
digest: {type: str, returned: success, description: SHA256 of all that is wanted of the host.}
run: {type: list, elements: str, returned: success, description: "The roles that have something to do, or to look."}
refused:
  description: What would stop a role, and no role mends; somebody has to, before anything is changed.
  type: list
  elements: str
  returned: success
differs:
  description:
    - What is not as wanted. C(state) is V(differs), V(unknown) (nobody can tell), V(always) (the
      role itself has to look) or V(refused) (the role would stop there); C(why) and C(diff) tell more.
    - Of what takes no effect C(role) is V(verify), and no role mends it.
  type: list
  elements: dict
  returned: success
  sample:
    - role: host_tuning
      task: Set the kernel settings
      state: differs
      why: ""
      diff: [{before_header: running kernel, after_header: running kernel, before: "", after: ""}]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._desired.compare import compare
from ..module_utils._desired.options import SPEC


def main() -> None:
    module = AnsibleModule(
        argument_spec={**SPEC, "items": {"type": "list", "elements": "dict", "default": []}},
        supports_check_mode=True,
    )
    if module.params["roles"]:
        module.fail_json(
            msg="host_desired composes what is wanted on the controller, and its action did not run. Next: have the"
            " collection whole there, with plugins/action"
        )
    module.exit_json(changed=False, told=compare(module.params["items"]))


if __name__ == "__main__":
    main()
