#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: repair
short_description: Plan which acts of a diagnosis are done, and tell what became of them
version_added: 0.1.0
description:
  - With O(state=planned) chooses of the acts that M(ibready.cluster.diagnose) names those that the site
    allows, inside its limits, and says of each other why it is held back. What needs hands becomes a
    ticket. Does nothing on any host; C(playbooks/repair.yml) does.
  - With O(state=done) holds that plan against a diagnosis made afterwards.
  - Reads C(repair_allow) and C(ibready_drain) of each host, and afterwards C(ibready_repair_begun) and
    C(ibready_repair_error) of those on which something was to be done.
  - Every act is remembered in C(ibready-repairs.json). A cause that was tried O(tries) times in O(days)
    days on a host is left to hands.
  - Runs on the controller.
options:
  state:
    description: Whether acts are to be chosen, or were done.
    type: str
    choices: [planned, done]
    default: planned
  diagnosis:
    description:
      - What M(ibready.cluster.diagnose) answered, before the acts or after them. Without one nothing
        counts as fixed.
    type: dict
  plan:
    description: What this module answered before the acts; with O(state=done).
    type: dict
  hosts:
    description: How many hosts may be disrupted at once, with those that an earlier run could not give back.
    type: int
    default: 1
  per_leaf:
    description: How many of these below one leaf switch.
    type: int
    default: 1
  tries:
    description: How often a cause is tried on a host.
    type: int
    default: 2
  days:
    description: In how many days.
    type: int
    default: 7
  dest:
    description: The folder for the record and the tickets; it is made where there is none.
    type: path
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See what would be done
  ibready.cluster.repair:
    diagnosis: "{{ ibready_diagnosis }}"
    dest: reports
  register: ibready_repair
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
hosts:
  description:
    - Of each host on which something is done its C(before) and C(after) (commands around a converge,
      each a list of words), C(converge) (whether there is one), C(consents) (variables that are true
      for it) and C(drains).
  type: dict
  returned: with O(state=planned)
steps: {type: list, elements: dict, returned: always, description: The acts that are done.}
held: {type: list, elements: dict, returned: always, description: "The acts held back, each with C(why) and C(next)."}
tickets:
  description: A text for each cause that needs hands.
  type: list
  elements: str
  returned: with O(state=planned)
at: {type: str, returned: with O(state=planned), description: When the plan was made; the record goes by it.}
stayed:
  description: Of each host on which a cause stayed, an act failed, or that stays drained, what to know.
  type: dict
  returned: with O(state=done)
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
