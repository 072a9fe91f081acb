#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reboot_state
short_description: Tell whether a host has to boot before what is installed is what runs
version_added: 0.1.0
description:
  - Compares the running kernel with the one that boots next, the loaded modules of the RDMA stack
    and of NVIDIA's driver with their files for the running kernel, the kernel's command line with
    what M(ibready.cluster.kernel_args) keeps, the loaded modules with what
    M(ibready.cluster.module_blacklist) keeps out, and the firmware that M(ibready.cluster.hca_firmware)
    wrote with what the card runs; and asks what the distribution's own tools say.
  - Changes nothing. What it could not look at is in RV(unknown), never taken for no reason.
  - In a container the kernel is the machine's that runs it and is left out; modules are looked at
    only where the sandbox simulates them.
options:
  reasons:
    description:
      - The kinds of reasons that count. The others are in RV(hints).
      - V(packages) is what C(/var/run/reboot-required) or C(needs-restarting) say; it often is
        about services, not about GPUs or HCAs.
    type: list
    elements: str
    choices: [kernel, module, argument, blacklist, firmware, packages]
    default: [kernel, module, argument, blacklist, firmware]
  removed:
    description:
      - Packages were taken away by intent, so that a loaded module whose file is gone is a reason.
        Otherwise it is in RV(unknown).
    type: bool
    default: false
  before:
    description:
      - RV(kept) as it was before a reboot. What of it is no longer there is in RV(lost).
    type: dict
    default: {}
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.root, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See what waits for a reboot
  ibready.cluster.reboot_state:
  register: waits

- name: Show it
  ansible.builtin.debug:
    var: waits.reasons
"""

RETURN = r"""
needed: {type: bool, returned: success, description: Whether something counts that waits for a boot.}
why:
  description: The reasons that count, in one sentence.
  type: str
  returned: success
  sample: "nvidia 580.126.20 is loaded, 580.173.02 is installed"
reasons:
  description: The reasons that count; C(reload) says what would do without a reboot.
  type: list
  elements: dict
  returned: success
  contains:
    kind: {type: str, description: Which kind of reason it is.}
    subject: {type: str, description: "The kernel, module, argument, card or package."}
    what: {type: str, description: What runs and what is installed.}
    reload: {type: str, description: "What would do without a reboot, empty for nothing."}
reload:
  description: What would do instead of a reboot; empty unless it does for every reason.
  type: list
  elements: str
  returned: success
hints: {type: list, elements: str, returned: success, description: Reasons of kinds that do not count.}
unknown: {type: list, elements: str, returned: success, description: What could not be told.}
ports:
  description: The ports of HCAs that are Active now.
  type: list
  elements: str
  returned: success
  sample: ["mlx5_0/1"]
fabric_manager: {type: bool, returned: success, description: Whether the fabric manager is to run on this host.}
kept:
  description:
    - What a reboot must not take away - the loaded C(modules) of RDMA and of the GPU driver that
      every boot loads, the RDMA C(devices) with their node C(guids), for a boot may name them anew,
      and the C(limits) that systemd gives to what it starts.
  type: dict
  returned: success
  sample: {"modules": ["ib_core"], "devices": ["mlx5_0"], "limits": {"nofile": 1048576}}
lost:
  description: What was in O(before) and is not there, a sentence each.
  type: list
  elements: str
  returned: success
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.reboot import fabric_wait, look as _reboot
from ..module_utils._areas.host import reboot
from ..module_utils._evidence.sources import Cached, Live
from ..module_utils._ground import state


def _look(reasons: list[str], root: str, removed: bool, before: dict[str, Any]) -> dict[str, Any]:
    evidence = Cached(Live(root))
    kept = _reboot.look_at_kept(evidence, before)
    need = reboot.judge(_reboot.look(evidence, root), removed=removed)
    counts = [reason for reason in need.reasons if reason.kind in reasons]
    return {
        "changed": False,
        "needed": bool(counts),
        "why": "; ".join(count.what for count in counts),
        "reasons": [asdict(count) for count in counts],
        "reload": sorted({count.reload for count in counts}) if all(c.reload for c in counts) else [],
        "hints": [reason.what for reason in need.reasons if reason.kind not in reasons],
        "unknown": list(need.unknown),
        "ports": fabric_wait.active_ports(evidence),
        "fabric_manager": fabric_wait.manager_wanted(evidence),
        "kept": kept,
        "lost": _reboot.lost(before, kept),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "reasons": {
                "type": "list",
                "elements": "str",
                "choices": list(reboot.KINDS),
                "default": ["kernel", "module", "argument", "blacklist", "firmware"],
            },
            "removed": {"type": "bool", "default": False},
            "before": {"type": "dict", "default": {}},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        given = module.params
        result = _look(given["reasons"], given["root"], given["removed"], given["before"])
    except state.StateError as exc:
        module.fail_json(msg=f"What waits for a reboot: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
