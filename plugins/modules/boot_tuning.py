#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: boot_tuning
short_description: Keep PCIe and CPU settings that every boot resets
version_added: 0.1.0
description:
  - Clears the redirecting bits of ACS on the PCIe switch ports between GPUs and HCAs, raises the
    read requests of HCAs, and sets the governor of the CPU clocks; now, and at each boot by a small
    program that a systemd unit starts.
  - Touches only what it is for. ACS stays in virtual machines, on Grace, and where a GPU or HCA is
    handed to virtual machines, which ACS keeps apart.
  - What is taken out of the options gets back the value that it had before, and the program goes
    with the last of them.
  - RV(left) says what is not done on this host, and why.
options:
  acs:
    description: With V(auto), clear ACS where it slows GPUs and HCAs down. With V(keep), leave it.
    type: str
    choices: [auto, keep]
    default: auto
  read_request:
    description: Bytes that an HCA of NVIDIA asks for at once (MaxReadReq). 0 leaves it.
    type: int
    choices: [0, 128, 256, 512, 1024, 2048, 4096]
    default: 4096
  governor:
    description: The governor of the CPU clocks. Empty leaves it.
    type: str
    default: performance
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows the values and the files.
    support: full
notes:
  - A kernel that is locked down (Secure Boot) lets nobody write PCI configuration space; the module
    fails then and says what else can be done.
"""

EXAMPLES = r"""
- name: Set what every boot resets
  ibready.cluster.boot_tuning:

- name: Put back what was before
  ibready.cluster.boot_tuning:
    acs: keep
    read_request: 0
    governor: ""
"""

RETURN = r"""
set:
  description: The values that were set, or would be in check mode.
  type: list
  elements: dict
  returned: success
  sample: [{"knob": "acs", "subject": "0000:52:04.0", "before": "0x001d", "after": "0x0000"}]
restored: {type: list, elements: dict, returned: success, description: The values that were put back.}
left:
  description: What is wanted and not done on this host, with the reason.
  type: dict
  returned: success
  sample: {"acs": "a virtual machine keeps ACS"}
notes: {type: list, elements: str, returned: success, description: What could not be looked at.}
files: {type: list, elements: str, returned: success, description: The files that were written or removed.}
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.tuning import boot_tuning as tuning
from ..module_utils._act.tuning.boot_scope import scope
from ..module_utils._areas.machine import observe as machine
from ..module_utils._evidence.sources import Live
from ..module_utils._ground import fileset, host_program, source, unit, whole
from ..module_utils._ground.host_program import HostError, Setting

_PROGRAM = f"{fileset.PROGRAMS}/boot-tuning"
_NAME = "ibready-boot-tuning.service"
_UNIT = f"{fileset.UNITS}/{_NAME}"
_WANTED = f"{fileset.UNITS}/multi-user.target.wants/{_NAME}"
_UNIT_TEXT = """\
# Written by ibready.cluster.boot_tuning. The next run undoes changes made by hand.
[Unit]
Description=PCIe and CPU settings that every boot resets (ibready)
After=systemd-modules-load.service systemd-udev-settle.service openibd.service
ConditionVirtualization=!container

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={python} {program} apply

[Install]
WantedBy=multi-user.target
"""


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    host = tuning.Host(root)
    asked = {
        "acs": module.params["acs"] == "auto",
        "read_request": module.params["read_request"],
        "governor": module.params["governor"],
    }
    config, left = scope(asked, machine.observe(Live(root)), host.policies())

    def going(knob: str, _subject: str) -> bool:
        return not config.get(knob)

    back = host.to_restore(going)
    wrong, notes = host.look(config)
    files = fileset.look(_files(config), root)
    if not module.check_mode:
        host.restore(going)
        host.apply(wrong)
        # Only now: what the host does not take must not be tried at each boot.
        fileset.write(files, root)
        if files and unit.has_systemd(root):
            module.run_command(["systemctl", "daemon-reload"], check_rc=True)
    return {
        "changed": bool(back or wrong or files),
        "set": [asdict(setting) for setting in wrong],
        "restored": [asdict(setting) for setting in back],
        "left": left,
        "notes": notes,
        "files": sorted(files),
        "diff": [*_values([*back, *wrong]), *fileset.diffs(files)],
    }


def _files(config: dict[str, Any]) -> dict[str, str]:
    """The files as they should be."""
    texts = {
        tuning.CONFIG: json.dumps(config, indent=2, sort_keys=True) + "\n",
        _PROGRAM: source.joined(whole, host_program, tuning),
        _UNIT: _UNIT_TEXT.format(python=sys.executable, program=_PROGRAM),
        _WANTED: _UNIT,
    }
    return texts if config else dict.fromkeys(texts, "")


def _values(settings: list[Setting]) -> list[dict[str, str]]:
    if not settings:
        return []
    before = "".join(f"{setting.knob} of {setting.subject}: {setting.before}\n" for setting in settings)
    after = "".join(f"{setting.knob} of {setting.subject}: {setting.after}\n" for setting in settings)
    return [{"before_header": "now", "after_header": "now", "before": before, "after": after}]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "acs": {"type": "str", "choices": ["auto", "keep"], "default": "auto"},
            "read_request": {"type": "int", "choices": [0, *tuning.SIZES], "default": 4096},
            "governor": {"type": "str", "default": "performance"},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        result = _keep(module)
    except (HostError, OSError) as exc:
        module.fail_json(msg=f"Settings that a boot resets: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
