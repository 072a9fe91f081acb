#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: secure_boot
short_description: Tell whether the kernel would load modules that DKMS signs with the site's key
version_added: 0.1.0
description:
  - Looks whether Secure Boot is on, and if so whether the site's key is there and enrolled.
  - Changes nothing. Enrolling a key needs a person at the console.
options:
  key:
    description: The private key on the host that DKMS signs with; empty for none.
    type: str
    default: ""
  certificate:
    description: Its certificate (DER) on the host; empty for none.
    type: str
    default: ""
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.root, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See whether modules can be signed
  ibready.cluster.secure_boot:
    key: /etc/pki/site/MOK.priv
    certificate: /etc/pki/site/MOK.der
"""

RETURN = r"""
enabled: {type: bool, returned: success, description: Whether Secure Boot is on; none where it cannot be told.}
enrolled:
  description: Whether the certificate is enrolled; none where it was not asked or cannot be told.
  type: bool
  returned: success
problem:
  description: Why built modules would not be loaded, with the next step; empty where they would.
  type: str
  returned: success
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.driver import secure_boot
from ..module_utils._ground.command import Output, Unavailable, run_by_name


def mokutil(*words: str) -> Output | None:
    try:
        return run_by_name(["mokutil", *words], 20)
    except Unavailable:
        return None


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "key": {"type": "str", "default": "", "no_log": False},
            "certificate": {"type": "str", "default": ""},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    key, certificate = module.params["key"], module.params["certificate"]
    on, who = secure_boot.state(module.params["root"], mokutil)
    trusted, words = None, ""
    problem = ""
    if on and key and certificate:
        lacking = [path for path in (key, certificate) if not os.path.isfile(path)]
        if lacking:
            problem = (
                f"Secure Boot is on, and {lacking[0]} is not on the host. Next: bring the site's"
                " key and certificate there, readable by root only"
            )
        else:
            trusted, words = secure_boot.enrolled(certificate, mokutil)
    problem = problem or secure_boot.problem(on, who, key, certificate, trusted, words)
    module.exit_json(changed=False, enabled=on, enrolled=trusted, problem=problem)


if __name__ == "__main__":
    main()
