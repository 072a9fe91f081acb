#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: validate_variables
short_description: Refuse misspelt and wrongly typed variables before anything changes
version_added: 0.1.0
description:
  - Runs on the controller and looks at the variables of the named hosts that are of this collection.
  - Fails on a name that begins with C(ibready_) or C(diagnose_) and does not exist, with the nearest name that does,
    on a value of the wrong type, and when there is no host at all.
  - Warns of any other name that is a letter or two away from a variable of this collection. All other variables are
    a site's own.
options:
  hosts:
    description: The names of the hosts whose variables are looked at.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Runs the same in check mode, because it touches no host.
    support: full
"""

EXAMPLES = r"""
- name: Refuse bad input
  ibready.cluster.validate_variables:
    hosts: "{{ query('ansible.builtin.inventory_hostnames', 'all') }}"
"""

RETURN = r"""
hosts: {type: list, elements: str, returned: success, description: The hosts whose variables were looked at.}
warnings:
  type: list
  elements: str
  returned: where a name looks like a misspelt variable of ibready
  description: What it looks like. It may be a variable of the site's own.
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
