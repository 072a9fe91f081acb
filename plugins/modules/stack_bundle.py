#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_bundle
short_description: Bring the package files that classes of hosts need to the controller, and sign them
version_added: 0.1.0
description:
  - With O(state=fetched) it asks one host of a class, which reaches the repositories, for the files
    that a bare host of that class needs (M(ibready.cluster.stack_bundle_files)), and carries to
    C(DIRECTORY/CLASS) those that are not there yet with the right SHA256.
  - A file is put in place only whole and with the sum that its repository's signed index states.
    Packages that are no longer needed are removed.
  - With O(state=signed) it writes the index of each class's folder (a flat apt repository with
    C(InRelease), or an rpm repository with C(repomd.xml.asc)), a manifest, the lock and the bill of
    materials, the site's public key, and C(SHA256SUMS) over every file with its signature. What is
    so already is not written again.
options:
  state:
    description: V(fetched), the files of one class are there; V(signed), all of it is signed.
    type: str
    choices: [fetched, signed]
    required: true
  directory:
    description: The bundle on the controller; it is made where it is not there.
    type: path
    required: true
  class_name:
    description: The class, as the lock names it. Required with O(state=fetched), like the three after it.
    type: str
  digest:
    description: The sum of the class's stack, C(ibready_plan.digest).
    type: str
  install:
    description: What is to be installed, C(ibready_plan.install).
    type: dict
  more:
    description: Parts before those of the plan, as the distribution's own RDMA packages.
    type: dict
    default: {}
  had:
    description: What M(ibready.cluster.stack_bundle_files) told of every host of the class.
    type: dict
  key:
    description: >-
      The fingerprint of the site's key, 40 hex digits. gpg signs with it as the user who runs Ansible; nobody is asked
      for a passphrase. Required with O(state=signed).
    type: str
  classes:
    description: What this module returned with O(state=fetched), one a class. Required with O(state=signed).
    type: list
    elements: dict
  beside:
    description: Files that are laid beside it, as the lock and the bill of materials.
    type: list
    elements: path
    default: []
  simulated:
    description: Why the hosts are no real ones; the manifest says it.
    type: str
    default: ""
requirements:
  - gpg
  - createrepo_c, for classes with dnf
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Tells which files would be fetched, and signs nothing.
    support: full
"""

EXAMPLES = r"""
- name: Bring the files to the bundle
  ibready.cluster.stack_bundle:
    state: fetched
    directory: /srv/bundle
    class_name: "{{ ibready_plan.class }}"
    digest: "{{ ibready_plan.digest }}"
    install: "{{ ibready_plan.install }}"
    had:
      node1: "{{ ibready_had }}"
  register: ibready_bundle

- name: Sign the bundle
  ibready.cluster.stack_bundle:
    state: signed
    directory: /srv/bundle
    key: 0123456789ABCDEF0123456789ABCDEF01234567
    classes: ["{{ ibready_bundle }}"]
  delegate_to: localhost
"""

RETURN = r"""
files:
  description: >-
    Every file that the class needs, with C(name), C(version), C(file), C(address), C(size) in
    bytes, C(sha256) and C(index).
  type: list
  elements: dict
  returned: when fetched
fetched: {type: list, elements: str, returned: when fetched, description: The names of those that were not there.}
bytes: {type: int, returned: when fetched, description: What all of them weigh.}
kind: {type: str, returned: when fetched, description: C(apt) or C(dnf).}
made_on: {type: str, returned: when fetched, description: The host that was asked.}
kernels: {type: list, elements: str, returned: when fetched, description: The running kernels of the class.}
class_name: {type: str, returned: when fetched, description: The class.}
digest: {type: str, returned: when fetched, description: The sum of its stack.}
written: {type: list, elements: str, returned: when signed, description: The paths that were written.}
"""
