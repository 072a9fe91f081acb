#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: soft_roce
short_description: Have soft RoCE devices (rdma_rxe) on network interfaces, also after a boot
version_added: 0.1.0
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
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  check_mode:
    description: Says what would change and changes nothing. Refuses what would be refused.
    support: full
  diff_mode:
    description: Shows the devices and the files.
    support: full
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
added: {type: list, elements: str, returned: success, description: The devices that were added now.}
deleted: {type: list, elements: str, returned: success, description: The devices of ours that were deleted.}
links:
  description: Every soft RoCE device that was asked for, with its interface and its port's state.
  type: dict
  returned: success
  sample: {"rxe0": {"netdev": "eth0", "state": "ACTIVE"}}
files: {type: list, elements: str, returned: success, description: The files that were written or removed.}
msg: {type: str, returned: success, description: "What was done, in a sentence."}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._act.soft_roce import desired, persist
from ..module_utils._act.soft_roce.program import Host, Links
from ..module_utils._evidence.sources import Live
from ..module_utils._ground import fileset, state, unit
from ..module_utils._ground.host_program import HostError
from ..module_utils._ground.text import ParseError
from ..module_utils._parse import rdma_json


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    host, evidence = Host(root), Live(root)
    wanted = desired.read(module.params["links"])
    devices = host.devices()
    ours = persist.made(root)
    going = [
        name for name in ours if name in devices and devices[name].netdev and wanted.get(name) != devices[name].netdev
    ]
    desired.refuse(evidence, wanted, devices, going)
    if wanted and not module.params["kernel_comes"]:
        desired.refuse_kernel(evidence)
    for name in going:
        persist.refuse_used(host, name, root)
    adding = [name for name in wanted if name not in devices or name in going]
    files = persist.files(wanted, root)
    if not module.check_mode:
        # Who is interrupted after this knows what was his; a name that is nobody's does no harm.
        persist.remember([*ours, *adding], root)
        leaving = {name: devices[name].netdev for name in going}
        try:
            _gone(module, host, leaving, root)
            for name in adding:
                host.add(name, wanted[name])
        except HostError as exc:
            raise HostError(f"{exc}. {_back(module, host, leaving, adding, root)}") from exc
        # Only now: what the host does not take must not be tried at each boot.
        persist.write(files, root)
        _tell(module, wanted, files, root)
        persist.remember([name for name in {*ours, *adding} if name in wanted], root)
    return {
        "changed": bool(going or adding or files),
        "added": adding,
        "deleted": going,
        "links": {} if module.check_mode else _links(host, wanted),
        "files": sorted(files),
        "msg": _sentence(wanted, adding, going),
        "diff": [*_shown(going, adding, wanted), *fileset.diffs(files)],
    }


def _gone(module: AnsibleModule, host: Host, going: Links, root: str) -> None:
    for name, netdev in going.items():
        if unit.has_systemd(root):
            # It would be taken for done when the interface's unit wants it again.
            module.run_command(["systemctl", "stop", persist.instance(netdev)])
        host.delete(name)


def _back(module: AnsibleModule, host: Host, gone: Links, adding: list[str], root: str) -> str:
    """Have the devices there that were there before this run, and no others."""
    try:
        for name, netdev in host.soft().items():
            if name in adding and gone.get(name) != netdev:
                host.delete(name)
        for name, netdev in gone.items():
            host.add(name, netdev)
            if unit.has_systemd(root):
                module.run_command(["systemctl", "start", persist.instance(netdev)])
    except HostError as exc:
        return f"What was there before could not be put back: {exc}"
    return "What was there before is there again"


def _tell(module: AnsibleModule, wanted: Links, files: fileset.Files, root: str) -> None:
    if not unit.has_systemd(root):
        return
    if files:
        module.run_command(["systemctl", "daemon-reload"], check_rc=True)
    for netdev in wanted.values() if files else ():
        module.run_command(["systemctl", "start", persist.instance(netdev)], check_rc=True)


def _links(host: Host, wanted: Links) -> dict[str, Any]:
    """What the kernel shows of them, by another road than sysfs."""
    if not wanted:
        return {}
    shown = {parse_link.name: parse_link for parse_link in rdma_json.parse_links(host.run("rdma", "-j", "link"))}
    for name, netdev in wanted.items():
        entry = shown.get(name)
        if entry is None or entry.netdev != netdev:
            reported = f"{name} is on {entry.netdev or 'no interface'}" if entry else f"there is no {name}"
            raise HostError(f"{name}: `rdma link` shows that {reported}. Next: look at it by hand")
    return {name: {"netdev": on, "state": shown[name].state} for name, on in wanted.items()}


def _sentence(wanted: Links, adding: list[str], going: list[str]) -> str:
    asked = ", ".join(f"{name} on {netdev}" for name, netdev in wanted.items()) or "none"
    reported = f"soft RoCE (RDMA in software): {asked}"
    reported += f"; added {', '.join(adding)}" if adding else ""
    return reported + (f"; deleted {', '.join(going)}" if going else "")


def _shown(going: list[str], adding: list[str], wanted: Links) -> list[dict[str, str]]:
    if not going and not adding:
        return []
    before = "".join(f"{name}\n" for name in going)
    after = "".join(f"{name} on {wanted[name]}\n" for name in adding)
    return [state.diff("soft RoCE", before, after)]


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
    except (HostError, ParseError, state.StateError) as exc:
        module.fail_json(msg=f"Soft RoCE: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"Soft RoCE: {exc.filename} cannot be used: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
