#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: collect_unpack
short_description: Bring home the evidence bundle that a host made
version_added: 0.1.0
description:
  - Fetches what M(ibready.cluster.collect) packed on the host, and puts it into O(dest)C(/)O(host),
    with the archive beside that as O(dest)C(/)O(host)C(.tar.gz), in the place of what is there.
  - The archive comes from a host that may be hostile. It is refused, by the name of what is wrong
    with it, where it holds anything that is not below O(host), a way out, a link or a device, more
    files, folders or bytes than a bundle does, a name that is deeper or longer, or the bundle of
    another host. Then it stays nowhere, and what was there before stays as it is.
options:
  src:
    description: The archive on the host, as M(ibready.cluster.collect) returned it.
    type: str
    required: true
  dest:
    description:
      - The folder of the bundles on the controller. It is created where it is missing, for its
        owner only.
    type: path
    required: true
  host:
    description: The host's name in the inventory.
    type: str
    required: true
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Is left out.
    support: none
"""

EXAMPLES = r"""
- name: Collect what the checks look at
  ibready.cluster.collect:
    dest: /run/ibready-bundle
    host: "{{ inventory_hostname }}"
  register: bundle

- name: Bring the bundle home
  ibready.cluster.collect_unpack:
    src: "{{ bundle.archive }}"
    dest: /srv/bundles
    host: "{{ inventory_hostname }}"
"""

RETURN = r"""
path: {type: str, returned: success, sample: /srv/bundles/node7, description: The bundle's folder on the controller.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
