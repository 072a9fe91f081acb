#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_host
short_description: Collect what an nccl.conf is derived from
version_added: 0.1.0
description:
  - Looks at the host's RDMA ports, GPUs, network interfaces, its way to the other nodes, and its
    NCCL library. P(ibready.cluster.nccl_derive#filter) makes the lines of an nccl.conf of it.
  - What cannot be seen is told as unknown with the reason, never guessed.
  - Never changes the host.
options:
  expect:
    description:
      - What the inventory expects of the host, as for M(ibready.cluster.ibverify). With
        C(nccl.peers), the addresses or names of other nodes, and C(nccl.policy), the variables of
        role nccl.
      - When left out, all of it is taken from the inventory.
    type: dict
  version:
    description: The release of NCCL that is going to be there, if there is no library yet.
    type: str
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Look at what an nccl.conf has to say of this host
  ibready.cluster.nccl_host:
  register: __nccl_host
"""

RETURN = r"""
nccl_host: {type: dict, returned: success, description: What P(ibready.cluster.nccl_derive#filter) takes.}
wish: {type: dict, returned: success, description: "What the inventory says of NCCL on the host, as it was understood."}
library:
  description: The library that a process loads, and its release; empty where there is none.
  type: dict
  returned: success
  sample: {"path": "/usr/lib/x86_64-linux-gnu/libnccl.so.2", "version": "2.28.9"}
release:
  description: The release of NCCL that is judged for; empty where none is known.
  type: str
  returned: success
  sample: 2.28.9
names:
  description: The variables that the library holds; empty where there is none.
  type: list
  elements: str
  returned: success
harmful:
  description: Variables of C(/etc/nccl.conf) that switch off what the host has.
  type: list
  elements: str
  returned: success
  sample: [NCCL_IB_DISABLE]
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._areas.nccl import check_harm, observe_host
from ..module_utils._ask.nccl import library
from ..module_utils._ask.nccl.library import Library
from ..module_utils._data.nccl_reading import SYSTEM_FILE
from ..module_utils._evidence.sources import Cached, Live, Unavailable
from ..module_utils._expect.expectations import ExpectationError, from_inventory
from ..module_utils._expect.nccl import Desired
from ..module_utils._nccl import conf
from ..module_utils._nccl.host import NcclHost
from ..module_utils._nccl.release import NEWEST, shown


def _library(evidence: Cached) -> Library | None:
    """None where there is none, or none that can be read: verifying tells."""
    found = library.find(evidence, machine=os.uname().machine)
    try:
        return library.inspect(found.value[0].path) if found.value else None
    except Unavailable:
        return None


def _harmful(evidence: Cached, host: NcclHost, wish: Desired) -> list[str]:
    try:
        text = conf.as_text(evidence.read_bytes(SYSTEM_FILE))
    except Unavailable:
        return []
    settings = conf.settings(text, host.release or NEWEST)
    return check_harm.harmful(settings, host, wish.policy)


def main() -> None:
    module = AnsibleModule(
        argument_spec={"expect": {"type": "dict"}, "version": {"type": "str"}},
        supports_check_mode=True,
    )
    try:
        expect = from_inventory(module.params["expect"])
    except ExpectationError as exc:
        module.fail_json(msg=str(exc))
    wanted = expect.get("nccl")
    desired = wanted.value if wanted else Desired()
    evidence = Cached(Live())
    found = _library(evidence)
    version = (found.version if found else "") or module.params["version"] or ""
    host = observe_host.look(evidence, expect, desired.peers, version)
    module.exit_json(
        changed=False,
        nccl_host=host.to_dict(),
        wish=desired.to_dict(),
        release=shown(host.release) if host.release else "",
        library={"path": found.path, "version": found.version} if found else {},
        names=sorted(found.names) if found else [],
        harmful=_harmful(evidence, host, desired),
    )


if __name__ == "__main__":
    main()
