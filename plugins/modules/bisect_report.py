#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bisect_report
short_description: Say which part of the hosts and their fabric is slow, with the measurements that convict it
version_added: 0.1.0
description:
  - Runs on the controller, after C(playbooks/bisect.yml) has measured in rounds.
  - Every part that a slow flow went over is convicted, acquitted, or cannot be told; each with the
    measurements that say so.
  - Shows them and writes C(bisect.json).
options:
  hosts:
    description: The names of the hosts that the run was for, reached or not.
    type: list
    elements: str
    required: true
  dest:
    description: The folder of the report on the controller.
    type: path
    required: true
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Say what is slow
  ibready.cluster.bisect_report:
    hosts: "{{ ansible_play_hosts_all }}"
    dest: reports
"""

RETURN = r"""
convicted:
  description: The parts that are proved to be slow.
  type: list
  elements: str
  returned: always
  sample: ["leaf3/7 - spine1/3"]
bad:
  description: Of each host whose flows were slow, or not measured, which part is to blame, or why that cannot be told.
  type: dict
  returned: always
json: {type: str, returned: always, description: The path of the report.}
"""
