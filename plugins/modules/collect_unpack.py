#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: collect_unpack
short_description: Unpack the evidence bundle that a host gave
version_added: 0.1.0
description:
  - Puts what M(ibready.cluster.collect) packed into O(dest)C(/)O(host), in the place of what is
    there.
  - The archive comes from a host that may be hostile. It is refused, by the name of what is wrong
    with it, where it holds anything that is not below O(host), a way out, a link or a device, more
    than a bundle does, or the bundle of another host. Nothing is touched then.
  - Runs on the controller.
options:
  src:
    description: The archive.
    type: path
    required: true
  dest:
    description: The folder of the bundles. It is created where it is missing, for its owner only.
    type: path
    required: true
  host:
    description: The host's name in the inventory.
    type: str
    required: true
attributes:
  check_mode:
    description: Is left out.
    support: none
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Unpack the bundle
  ibready.cluster.collect_unpack:
    src: "/srv/bundles/{{ inventory_hostname }}.tar.gz"
    dest: /srv/bundles
    host: "{{ inventory_hostname }}"
  delegate_to: localhost
  become: false
"""

RETURN = r"""
path:
  description: The bundle's folder.
  type: str
  returned: success
  sample: /srv/bundles/node7
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
