#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: soft_roce
short_description: Have soft RoCE devices (rdma_rxe) on network interfaces, also after a boot
version_added: 0.2.0
description:
  - Adds the devices of O(links) with C(rdma link add), and has a systemd unit add them at each boot
    as soon as their interface is there.
  - What ibready made and nobody asks for any more is deleted, unless somebody uses it. A device
    that was there before is left alone, and is kept when it is asked for.
  - This is RDMA in software. It says nothing of an HCA's speed.
options:
  links:
    description: The devices, each with C(name) (V(rxe0)) and C(netdev) (V(eth0)).
    type: list
    elements: dict
    default: []
  kernel_comes:
    description:
      - Whether packages that are still to be installed may bring the kernel module. It is not
        looked for then.
    type: bool
    default: false
  root:
    description: The directory that is the host's C(/). Tests point it elsewhere.
    type: path
    default: /
attributes:
  check_mode:
    description: Says what would change and changes nothing. Refuses what would be refused.
    support: full
  diff_mode:
    description: Shows the devices and the files.
    support: full
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: RDMA without an HCA, for trying things out
  ibready.cluster.soft_roce:
    links:
      - name: rxe0
        netdev: eth0

- name: Take it away
  ibready.cluster.soft_roce:
    links: []
"""

RETURN = r"""
added:
  description: The devices that were added now.
  type: list
  elements: str
  returned: success
deleted:
  description: The devices of ours that were deleted.
  type: list
  elements: str
  returned: success
links:
  description: Every soft RoCE device that was asked for, with its interface and its port's state.
  type: dict
  returned: success
  sample: {"rxe0": {"netdev": "eth0", "state": "ACTIVE"}}
files:
  description: The files that were written or removed.
  type: list
  elements: str
  returned: success
msg:
  description: What was done, in a sentence.
  type: str
  returned: success
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live
from ansible_collections.ibready.cluster.plugins.module_utils._parse import rdma_json
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._soft_roce import keep, wish
from ansible_collections.ibready.cluster.plugins.module_utils._soft_roce.program import (
    Host,
    Links,
    SoftRoceError,
)


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    host, evidence = Host(root), Live(root)
    wanted = wish.read(module.params["links"])
    devices = host.devices()
    ours = keep.made(root)
    going = [
        name
        for name in ours
        if name in devices and devices[name].netdev and wanted.get(name) != devices[name].netdev
    ]
    wish.refuse(evidence, wanted, devices, going)
    if wanted and not module.params["kernel_comes"]:
        wish.refuse_kernel(evidence)
    for name in going:
        keep.refuse_used(host, name, root)
    adding = [name for name in wanted if name not in devices or name in going]
    files = keep.files(wanted, root)
    if not module.check_mode:
        # Who is interrupted after this knows what was his; a name that is nobody's does no harm.
        keep.remember([*ours, *adding], root)
        leaving = {name: devices[name].netdev for name in going}
        try:
            _gone(module, host, leaving, root)
            for name in adding:
                host.add(name, wanted[name])
        except SoftRoceError as exc:
            raise SoftRoceError(f"{exc}. {_back(module, host, leaving, adding, root)}") from exc
        # Only now: what the host does not take must not be tried at each boot.
        keep.write(files, root)
        _tell(module, wanted, files, root)
        keep.remember([name for name in {*ours, *adding} if name in wanted], root)
    return {
        "changed": bool(going or adding or files),
        "added": adding,
        "deleted": going,
        "links": {} if module.check_mode else _links(host, wanted),
        "files": sorted(files),
        "msg": _sentence(wanted, adding, going),
        "diff": [*_shown(going, adding, wanted), *_texts(files)],
    }


def _systemd(root: str) -> bool:
    return root == "/" and os.path.isdir("/run/systemd/system")


def _gone(module: AnsibleModule, host: Host, going: Links, root: str) -> None:
    for name, netdev in going.items():
        if _systemd(root):
            # It would be taken for done when the interface's unit wants it again.
            module.run_command(["systemctl", "stop", keep.instance(netdev)])
        host.delete(name)


def _back(module: AnsibleModule, host: Host, gone: Links, adding: list[str], root: str) -> str:
    """Have the devices there that were there before this run, and no others."""
    try:
        for name, netdev in host.soft().items():
            if name in adding and gone.get(name) != netdev:
                host.delete(name)
        for name, netdev in gone.items():
            host.add(name, netdev)
            if _systemd(root):
                module.run_command(["systemctl", "start", keep.instance(netdev)])
    except SoftRoceError as exc:
        return f"What was there before could not be put back: {exc}"
    return "What was there before is there again"


def _tell(module: AnsibleModule, wanted: Links, files: keep.Files, root: str) -> None:
    if not _systemd(root):
        return
    if files:
        module.run_command(["systemctl", "daemon-reload"], check_rc=True)
    for netdev in wanted.values() if files else ():
        module.run_command(["systemctl", "start", keep.instance(netdev)], check_rc=True)


def _links(host: Host, wanted: Links) -> dict[str, Any]:
    """What the kernel shows of them, by another road than sysfs."""
    if not wanted:
        return {}
    shown = {one.name: one for one in rdma_json.parse_links(host.run("rdma", "-j", "link"))}
    for name, netdev in wanted.items():
        one = shown.get(name)
        if one is None or one.netdev != netdev:
            told = f"{name} is on {one.netdev or 'no interface'}" if one else f"there is no {name}"
            raise SoftRoceError(f"{name}: `rdma link` shows that {told}. Next: look at it by hand")
    return {name: {"netdev": on, "state": shown[name].state} for name, on in wanted.items()}


def _sentence(wanted: Links, adding: list[str], going: list[str]) -> str:
    asked = ", ".join(f"{name} on {netdev}" for name, netdev in wanted.items()) or "none"
    told = f"soft RoCE (RDMA in software): {asked}"
    told += f"; added {', '.join(adding)}" if adding else ""
    return told + (f"; deleted {', '.join(going)}" if going else "")


def _shown(going: list[str], adding: list[str], wanted: Links) -> list[dict[str, str]]:
    if not going and not adding:
        return []
    before = "".join(f"{name}\n" for name in going)
    after = "".join(f"{name} on {wanted[name]}\n" for name in adding)
    return [_state.diff("soft RoCE", before, after)]


def _texts(files: keep.Files) -> list[dict[str, str]]:
    return [_state.diff(path, before, after) for path, (before, after) in files.items()]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "links": {"type": "list", "elements": "dict", "default": []},
            "kernel_comes": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        result = _keep(module)
    except (SoftRoceError, ParseError, _state.StateError) as exc:
        module.fail_json(msg=f"Soft RoCE: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"Soft RoCE: {exc.filename} cannot be used: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
