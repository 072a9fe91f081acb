#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: host_hooks
short_description: Run a site's own commands for a host, on the controller or on the host
version_added: 0.1.0
description:
  - Runs one command after the other, without a shell, and stops at the first that fails.
  - On the controller they run as the user who runs Ansible, with that user's environment and
    working directory; on the host as the task's user.
options:
  title:
    description: What the commands are for, for messages.
    type: str
    required: true
  commands:
    description:
      - A list of argv lists, each for the controller.
      - An entry may be a dictionary, with the list in C(run), and in C(where) either V(controller)
        or V(host).
    type: list
    elements: raw
    required: true
  timeout:
    description: Seconds that each command may take on the controller.
    type: int
    default: 3600
  unchanged:
    description: What of the host has not been changed yet, for the message of a failure.
    type: str
    default: ""
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Checks the commands and runs none.
    support: full
"""

EXAMPLES = r"""
- name: Let no new job start on the host
  ibready.cluster.host_hooks:
    title: drain
    commands:
      - [scontrol, update, "NodeName={{ inventory_hostname }}", State=DRAIN, Reason=ibready]
      - {run: [touch, /run/nologin], where: host}
"""

RETURN = r"""
ran: {type: list, elements: str, returned: always, description: "The commands that ran, or would in check mode."}
"""
# The action plugin of the same name does the work: only the controller can run what is for it.
