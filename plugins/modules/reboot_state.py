#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reboot_state
short_description: Tell whether a host has to boot before what is installed is what runs
version_added: 0.2.0
description:
  - Compares the running kernel with the one that boots next, the loaded modules of the RDMA stack
    and of NVIDIA's driver with their files for the running kernel, the kernel's command line with
    what M(ibready.cluster.kernel_args) keeps, and the loaded modules with what
    M(ibready.cluster.module_blacklist) keeps out; and asks what the distribution's own tools say.
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
    choices: [kernel, module, argument, blacklist, packages]
    default: [kernel, module, argument, blacklist]
  removed:
    description:
      - Packages were taken away by intent, so that a loaded module whose file is gone is a reason.
        Otherwise it is in RV(unknown).
    type: bool
    default: false
    version_added: 0.2.0
  before:
    description:
      - RV(kept) as it was before a reboot. What of it is no longer there is in RV(lost).
    type: dict
    default: {}
    version_added: 0.2.0
  root:
    description: The directory that is the host's C(/) for files. Tests point it elsewhere.
    type: path
    default: /
extends_documentation_fragment:
  - ibready.cluster.look
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
needed:
  description: Whether something counts that waits for a boot.
  type: bool
  returned: success
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
    kind:
      description: Which kind of reason it is.
      type: str
    subject:
      description: The kernel, module, argument or package.
      type: str
    what:
      description: What runs and what is installed.
      type: str
    reload:
      description: What would do without a reboot, empty for nothing.
      type: str
reload:
  description: What would do instead of a reboot; empty unless it does for every reason.
  type: list
  elements: str
  returned: success
hints:
  description: Reasons of kinds that do not count.
  type: list
  elements: str
  returned: success
unknown:
  description: What could not be told.
  type: list
  elements: str
  returned: success
ports:
  description: The ports of HCAs that are Active now.
  type: list
  elements: str
  returned: success
  sample: ["mlx5_0/1"]
fabric_manager:
  description: Whether the fabric manager is to run on this host.
  type: bool
  returned: success
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

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils import (
    _fabric_wait,
    _reboot,
    _reboot_kept,
    _reboot_look,
    _state,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Cached, Live


def _look(reasons: list[str], root: str, removed: bool, before: dict[str, Any]) -> dict[str, Any]:
    evidence = Cached(Live(root))
    kept = _reboot_kept.look(evidence, before)
    need = _reboot.judge(_reboot_look.look(evidence, root), removed=removed)
    counts = [one for one in need.reasons if one.kind in reasons]
    return {
        "changed": False,
        "needed": bool(counts),
        "why": "; ".join(one.what for one in counts),
        "reasons": [asdict(one) for one in counts],
        "reload": sorted({one.reload for one in counts}) if all(c.reload for c in counts) else [],
        "hints": [one.what for one in need.reasons if one.kind not in reasons],
        "unknown": list(need.unknown),
        "ports": _fabric_wait.active_ports(evidence),
        "fabric_manager": _fabric_wait.manager_wanted(evidence),
        "kept": kept,
        "lost": _reboot_kept.lost(before, kept),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "reasons": {
                "type": "list",
                "elements": "str",
                "choices": list(_reboot.KINDS),
                "default": ["kernel", "module", "argument", "blacklist"],
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
    except _state.StateError as exc:
        module.fail_json(msg=f"What waits for a reboot: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
