#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: collect
short_description: Write an evidence bundle of this host
version_added: 0.1.0
description:
  - Looks at everything that the checks look at, and keeps what it saw in O(dest)C(/HOST) and
    O(dest)C(/HOST.tar.gz), to be judged elsewhere with the option C(bundle) of the verify modules.
  - Passwords, tokens and logins in command lines and logs are masked before anything is written.
  - Reads only; it writes nothing outside O(dest).
  - Looks at InfiniBand error counters twice, some seconds apart.
options:
  dest:
    description: The directory that gets the bundle. It is created where it is missing.
    type: path
    required: true
  host:
    description: The host's name in the bundle; its own name when left out, with O(home) that of the inventory.
    type: str
  home:
    description:
      - A folder of the controller, which gets the bundle as well, in the place of an older one of the
        host. It is created where it is missing, for its owner only. Not in check mode.
      - The archive comes from a host that may be hostile. It is refused, by the name of what is wrong
        with it, where it holds anything that is not below O(host), a way out, a link or a device, more
        files, folders or bytes than a bundle does, a name that is deeper or longer, or the bundle of
        another host. Then it stays nowhere, and what was there before stays as it is.
    type: path
  expect:
    description:
      - What the inventory expects of this host, as C(ibready_expect). The bundle carries it, and who
        judges it without saying anything else goes by it.
      - When left out, it is what a verify of the host goes by, also in ad hoc use.
      - With C(container), which may be empty, a container is started as root and one as another
        user, and what they see is recorded, as M(ibready.cluster.containerverify) does.
    type: dict
extends_documentation_fragment: [ibready.cluster.no_diff]
attributes:
  check_mode:
    description: Says that it would write a bundle, and writes none.
    support: full
"""

EXAMPLES = r"""
- name: Collect the evidence of this host, and of what containers on it get
  ibready.cluster.collect:
    dest: /root/bundles
    expect: {container: {}}

- name: Collect the evidence of this host
  ibready.cluster.collect:
    dest: /root/bundles
    host: "{{ inventory_hostname }}"
"""

RETURN = r"""
path: {type: str, returned: always, sample: /root/bundles/node7, description: The bundle's directory.}
archive: {type: str, returned: always, sample: /root/bundles/node7.tar.gz, description: The same as one file.}
home: {type: str, returned: with O(home), sample: /srv/bundles/node7, description: The same on the controller.}
untold: {type: list, elements: str, returned: when written, description: "What could not be told, one line each."}
"""

import datetime
import os
import platform

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._evidence.sources import Live
from ..module_utils._expect.expectations import ExpectationError
from ..module_utils._verify import collect
from ..module_utils._verify.verify import QUESTIONS


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "dest": {"type": "path", "required": True},
            "host": {"type": "str"},
            "home": {"type": "path"},  # The controller's part.
            "expect": {"type": "dict"},
        },
        supports_check_mode=True,
    )
    host = module.params["host"] or platform.node()
    place = os.path.join(module.params["dest"], host)
    reported = {"path": place, "archive": f"{place}.tar.gz"}
    if module.check_mode:
        module.exit_json(changed=True, **reported)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        unreported = collect.collect(
            Live(questions=QUESTIONS),
            module.params["dest"],
            host,
            now,
            module.params["expect"],
        )
    except ExpectationError as exc:
        module.fail_json(msg=f"{exc}; next: correct ibready_expect", **reported)
    except collect.CollectError as exc:
        module.fail_json(msg=f"{exc}; next: name another dest, or make room there", **reported)
    module.exit_json(changed=True, untold=unreported, **reported)


if __name__ == "__main__":
    main()
