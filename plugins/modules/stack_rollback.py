#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_rollback
short_description: Say to which plan hosts go back, and let the locks change places
version_added: 0.1.0
description:
  - Runs on the controller and touches no host.
  - With O(state=planned) tells, for every host, the digest of its plan in
    C(stack.lock.previous.yml), which is what its snapshot is named after
    (M(ibready.cluster.stack_snapshot)), and what differs between the locks.
  - With O(state=swapped) lets C(stack.lock.yml) and C(stack.lock.previous.yml) change places, but
    only where every host whose stack differs between them is among O(hosts).
options:
  state:
    description: Whether to tell, or to let the locks change places.
    type: str
    choices: [planned, swapped]
    required: true
  hosts:
    description: The hosts that go back, or have gone.
    type: list
    elements: str
    required: true
  to:
    description:
      - V(previous) is the lock of before, V(next) the one that was rolled back from. Each is
        refused where it is the other, so that a second run does not undo the first.
      - V(bare) is the host as it was before ibready; the locks stay as they are.
    type: str
    choices: [previous, next, bare]
    default: previous
attributes:
  check_mode:
    description: Writes nothing.
    support: full
  diff_mode:
    description: What differs between the locks is always shown.
    support: none
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See where the hosts go
  ibready.cluster.stack_rollback:
    state: planned
    hosts: "{{ ansible_play_hosts_all }}"
  register: rollback

- name: Bring a host back
  ibready.cluster.stack_snapshot:
    state: restored
    digest: "{{ rollback.digests[inventory_hostname] }}"
"""

RETURN = r"""
digests: {type: dict, returned: success, description: The digest of each host's plan; V(bare) where O(to=bare).}
changes: {type: list, elements: str, returned: success, description: "What differs between the locks, one line each."}
lock:
  description: The file of the lock that hosts are judged by from now on; empty with O(to=bare).
  type: str
  returned: success
stay:
  description: By host, packages (globs) of the parts that the lock leaves as they were found, and so a rollback too.
  type: dict
  returned: with O(state=planned)
swapped: {type: bool, returned: success, description: "Whether the locks changed places, or would in check mode."}
absent:
  description: Hosts whose stack differs between the locks, and that are not among O(hosts).
  type: list
  elements: str
  returned: success
"""

# Everything happens on the controller: plugins/action/stack_rollback.py.
