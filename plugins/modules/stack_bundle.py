#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_bundle
short_description: Bring all package files that one class of hosts needs to the controller
version_added: 0.1.0
description:
  - Asks one host of a class, which reaches the repositories, for the files that a bare host of that
    class needs (M(ibready.cluster.stack_bundle_files)), and carries to C(DIRECTORY/CLASS) those
    that are not there yet with the right SHA256.
  - A file is put in place only whole and with the sum that its repository's signed index states.
    Packages that are no longer needed are removed. M(ibready.cluster.stack_bundle_index) makes a
    signed repository of it.
options:
  directory:
    description: The bundle on the controller; it is made where it is not there.
    type: path
    required: true
  class_name:
    description: The class, as the lock names it.
    type: str
    required: true
  digest:
    description: The sum of the class's stack, C(ibready_plan.digest).
    type: str
    required: true
  install:
    description: What is to be installed, C(ibready_plan.install).
    type: dict
    required: true
  more:
    description: Parts before those of the plan, as the distribution's own RDMA packages.
    type: dict
    default: {}
  had:
    description: What M(ibready.cluster.stack_bundle_files) told of every host of the class.
    type: dict
    required: true
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Tells which files would be fetched.
    support: full
"""

EXAMPLES = r"""
- name: Bring the files to the bundle
  ibready.cluster.stack_bundle:
    directory: /srv/bundle
    class_name: "{{ ibready_plan.class }}"
    digest: "{{ ibready_plan.digest }}"
    install: "{{ ibready_plan.install }}"
    had:
      node1: "{{ ibready_had }}"
"""

RETURN = r"""
files:
  description: >-
    Every file that the class needs, with C(name), C(version), C(file), C(address), C(size) in
    bytes, C(sha256) and C(index).
  type: list
  elements: dict
  returned: success
fetched: {type: list, elements: str, returned: success, description: The names of those that were not there.}
bytes: {type: int, returned: success, description: What all of them weigh.}
kind: {type: str, returned: success, description: C(apt) or C(dnf).}
made_on: {type: str, returned: success, description: The host that was asked.}
kernels: {type: list, elements: str, returned: success, description: The running kernels of the class.}
class_name: {type: str, returned: success, description: The class.}
digest: {type: str, returned: success, description: The sum of its stack.}
"""
