#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_bundle_index
short_description: Make signed repositories of a bundle's package files
version_added: 0.1.0
description:
  - Runs on the controller. Writes the index of each class's folder (a flat apt repository with
    C(InRelease), or an rpm repository with C(repomd.xml.asc)), a manifest, the lock and the bill of
    materials, the site's public key, and C(SHA256SUMS) over every file with its signature.
  - What is so already is not written again.
options:
  directory:
    description: The bundle on the controller.
    type: path
    required: true
  key:
    description: >-
      The fingerprint of the site's key, 40 hex digits. gpg signs with it as the user who runs
      Ansible; nobody is asked for a passphrase.
    type: str
    required: true
  classes:
    description: What M(ibready.cluster.stack_bundle) returned, one a class.
    type: list
    elements: dict
    required: true
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
    description: Is skipped in check mode.
    support: none
"""

EXAMPLES = r"""
- name: Sign the bundle
  ibready.cluster.stack_bundle_index:
    directory: /srv/bundle
    key: 0123456789ABCDEF0123456789ABCDEF01234567
    classes: ["{{ ibready_bundle }}"]
  delegate_to: localhost
"""

RETURN = r"""
written: {type: list, elements: str, returned: success, description: The paths below the bundle that were written.}
"""
