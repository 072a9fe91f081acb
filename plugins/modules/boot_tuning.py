#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: boot_tuning
short_description: Keep PCIe and CPU settings that every boot resets
version_added: 0.2.0
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
  root:
    description: The directory that is the host's C(/). Tests point it elsewhere.
    type: path
    default: /
attributes:
  check_mode:
    description: Says what would change and changes nothing.
    support: full
  diff_mode:
    description: Shows the values and the files.
    support: full
notes:
  - A kernel that is locked down (Secure Boot) lets nobody write PCI configuration space; the module
    fails then and says what else can be done.
author:
  - ibready contributors (@ibready)
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
restored:
  description: The values that were put back.
  type: list
  elements: dict
  returned: success
left:
  description: What is wanted and not done on this host, with the reason.
  type: dict
  returned: success
  sample: {"acs": "a virtual machine keeps ACS"}
notes:
  description: What could not be looked at.
  type: list
  elements: str
  returned: success
files:
  description: The files that were written or removed.
  type: list
  elements: str
  returned: success
"""

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils import _boot_tuning as tuning
from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._boot_scope import scope
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live
from ansible_collections.ibready.cluster.plugins.module_utils._observe import machine

_PROGRAM = "/usr/local/lib/ibready/boot-tuning"
_NAME = "ibready-boot-tuning.service"
_UNIT = f"/etc/systemd/system/{_NAME}"
_WANTED = f"/etc/systemd/system/multi-user.target.wants/{_NAME}"
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
    back = host.to_restore(tuple(one for one in tuning.KNOBS if not config.get(one)))
    wrong, notes = host.look(config)
    files = _files(config, root)
    if not module.check_mode:
        host.restore(tuple(one for one in tuning.KNOBS if not config.get(one)))
        host.apply(wrong)
        # Only now: what the host does not take must not be tried at each boot.
        _write(files, root)
        if files and root == "/" and os.path.isdir("/run/systemd/system"):
            module.run_command(["systemctl", "daemon-reload"], check_rc=True)
    return {
        "changed": bool(back or wrong or files),
        "set": [asdict(one) for one in wrong],
        "restored": [asdict(one) for one in back],
        "left": left,
        "notes": notes,
        "files": sorted(files),
        "diff": [*_values([*back, *wrong]), *_texts(files)],
    }


def _files(config: dict[str, Any], root: str) -> dict[str, tuple[str, str]]:
    """The files that are not as they should be: what they hold and what they should."""
    # From the directory here in tests, from the zip that Ansible packs on a node.
    loader: Any = tuning.__spec__ and tuning.__spec__.loader
    texts = {
        tuning.CONFIG: json.dumps(config, indent=2, sort_keys=True) + "\n",
        _PROGRAM: loader.get_source(tuning.__name__),
        _UNIT: _UNIT_TEXT.format(python=sys.executable, program=_PROGRAM),
    }
    found: dict[str, tuple[str, str]] = {}
    for path, text in texts.items():
        before, after = _state.read(_state.below(root, path)), text if config else ""
        if before != after:
            found[path] = (before, after)
    link = _state.below(root, _WANTED)
    aim = os.readlink(link) if os.path.islink(link) else ""
    if aim != (_UNIT if config else ""):
        found[_WANTED] = (aim, _UNIT if config else "")
    return found


def _write(files: dict[str, tuple[str, str]], root: str) -> None:
    for path, (before, after) in files.items():
        place = _state.below(root, path)
        if path != _WANTED:
            _state.write(place, after, 0o755 if path == _PROGRAM else 0o644)
            continue
        if before:
            os.unlink(place)
        if after:
            _state.make_folder(os.path.dirname(place))
            os.symlink(after, place)


def _values(settings: list[tuning.Setting]) -> list[dict[str, str]]:
    if not settings:
        return []
    before = "".join(f"{one.knob} of {one.subject}: {one.before}\n" for one in settings)
    after = "".join(f"{one.knob} of {one.subject}: {one.after}\n" for one in settings)
    return [{"before_header": "now", "after_header": "now", "before": before, "after": after}]


def _texts(files: dict[str, tuple[str, str]]) -> list[dict[str, str]]:
    return [_state.diff(path, before, after) for path, (before, after) in files.items()]


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
    except (tuning.TuningError, OSError) as exc:
        module.fail_json(msg=f"Settings that a boot resets: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
