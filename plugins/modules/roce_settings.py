#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: roce_settings
short_description: Set mode, mark, trust, flow control, ECN and MTU of RoCE ports, also after a boot
version_added: 0.1.0
description:
  - Looks at the RoCE ports of the host, sets what is asked for and not yet so, and reads it back.
    What is not asked for is left as it is.
  - A small program, started by a systemd unit at each boot and by udev with each RDMA device, sets
    it again. The MTU is kept by the service that has the interface (netplan, NetworkManager or
    systemd-networkd).
  - What hardware cannot take is refused before anything changes, or with O(where_possible) left out
    and told in RV(left).
  - What is taken out of the options gets back the value that it had before.
options:
  devices:
    description: The RDMA devices (V(mlx5_0)). All RoCE ports where the list is empty.
    type: list
    elements: str
    default: []
  mode:
    description: RDMA CM's default RoCE mode. V(keep) leaves it.
    type: str
    choices: [keep, v2, v1]
    default: keep
  tos:
    description:
      - The ToS that RDMA CM marks its traffic with, and the traffic class of the driver where it
        has one (mlx5 of NVIDIA's stack). 106 is DSCP 26 with ECN.
    type: int
  trust:
    description: Whether the interface sorts packets by DSCP or by VLAN priority (mlnx_qos).
    type: str
    choices: [dscp, pcp]
  pfc:
    description: The priorities with flow control, and no others (mlnx_qos). V([]) switches it off.
    type: list
    elements: int
  ecn:
    description:
      - Whether congestion is told and heard of in the priorities of O(pfc), or the one that the
        DSCP of O(tos) leads into with O(trust=dscp).
    type: bool
  mtu:
    description: The MTU of the ports' interfaces.
    type: int
  where_possible:
    description: Leave out what a port cannot take, and tell it, in place of refusing.
    type: bool
    default: false
  ssh_port:
    description: The TCP port of logins besides 22. An interface that carries one keeps its MTU.
    type: int
    default: 22
  connection_ok:
    description: Whether an interface may get another MTU that carries a login.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  check_mode:
    description: Says what would change and changes nothing. Refuses what would be refused.
    support: full
  diff_mode:
    description: Shows the values and the files.
    support: full
notes:
  - RDMA CM's values can be read only through a folder in configfs. It is made, and stays. In check
    mode, what it would show counts as not yet set.
"""

EXAMPLES = r"""
- name: Lossless RoCE v2 in priority 3
  ibready.cluster.roce_settings:
    mode: v2
    tos: 106
    trust: dscp
    pfc: [3]
    ecn: true
    mtu: 9000

- name: Put back what was before
  ibready.cluster.roce_settings:
"""

RETURN = r"""
set:
  description: The values that were set, or would be in check mode.
  type: list
  elements: dict
  returned: success
  sample: [{"knob": "trust", "subject": "eth0", "before": "pcp", "after": "dscp"}]
restored: {type: list, elements: dict, returned: success, description: The values that were put back.}
left:
  description: What is asked for and not set, with the reason.
  type: dict
  returned: success
  sample: {"pfc of rxe0/1": "soft RoCE has no flow control"}
later:
  description: Whether the host has none of the ports yet, so that check mode cannot tell what would be set.
  type: bool
  returned: success
  sample: false
ports: {type: dict, returned: success, description: What each port had before anything was set.}
files: {type: list, elements: str, returned: success, description: The files that were written or removed.}
msg: {type: str, returned: success, description: "What was done, in a sentence."}
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.ipoib import ports as sessions
from ..module_utils._act.ipoib.desired import IpoibError
from ..module_utils._act.roce import desired, mtu, work
from ..module_utils._act.roce.program import Host, alone, unwanted
from ..module_utils._areas.machine import observe as machine
from ..module_utils._areas.roce import observe as roce
from ..module_utils._data import roce_files as data
from ..module_utils._evidence.sources import Cached, Live
from ..module_utils._ground import fileset, state, unit
from ..module_utils._ground.command import Unavailable, find_program
from ..module_utils._ground.host_program import HostError, Setting
from ..module_utils._rails.roce_ports import RocePort


def _observed(root: str) -> list[RocePort]:
    evidence = Cached(Live(root))
    seen = roce.observe(evidence, machine.observe(evidence))
    if seen.ports.value is None and not seen.devices.missing:
        raise HostError(f"the host's RDMA ports cannot be told: {seen.ports.why}")
    return list(seen.ports.value or ())


def _tool() -> str:
    try:
        find_program("mlnx_qos")
    except Unavailable as exc:
        return str(exc)
    return ""


def _plan(module: AnsibleModule, asked: desired.Desired, ports: list[RocePort]) -> desired.Plan:
    if not asked.anything:
        return desired.Plan()
    try:
        chosen = desired.choose(ports, asked)
    except HostError as exc:
        if not module.check_mode or ports:
            raise
        # What adds the devices was not done either.
        return desired.Plan(left={"everything": f"{exc}. In check mode this can be told later"}, later=True)
    plan = desired.plan(chosen, asked, _tool())
    if plan.refused and not module.params["where_possible"]:
        reported = "; ".join(f"{what}: {why}" for what, why in plan.refused.items())
        raise HostError(
            f"{reported}. Nothing was changed. Next: leave that out for these hosts, or say roce_where_possible: true"
        )
    return plan


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    host, asked = Host(root), desired.read(module.params)
    ports = _observed(root)
    plan = _plan(module, asked, ports)
    wrong, notes = host.look(plan.wanted)
    if notes:
        raise HostError(f"{'; '.join(notes)}. Next: look at `rdma link`")
    changes = [*mtu.look(plan.mtus), *work.given_back(plan, root)]
    going = unwanted(plan.wanted)
    to_do = work.Work(wrong, host.to_restore(going), changes, work.files(plan.wanted, plan.mtus, root))
    until = "it had none; {} holds until the next boot"
    left = {
        f"the old {setting.knob} of {setting.subject}": until.format(setting.after) for setting in host.staying(going)
    }
    touched = [change.netdev for change in changes]
    port, ok = module.params["ssh_port"], module.params["connection_ok"]
    sessions.refuse_session(Live(root), touched, port, ok, "roce_connection_ok")
    done = wrong
    if not module.check_mode and to_do.anything:
        with alone(host):
            done = work.bring(host, plan, to_do, root, lambda: _tell(module, to_do.files, root))
    return {
        "changed": to_do.anything,
        "set": [asdict(setting) for setting in done] + [_shown(change) for change in changes],
        "restored": [asdict(setting) for setting in to_do.back],
        "left": {**plan.left, **left},
        "later": plan.later,
        "ports": {port.name: desired.shown(port) for port in ports},
        "files": sorted(to_do.files),
        "msg": _sentence(plan, done, changes),
        "diff": [*_values([*to_do.back, *done], changes), *fileset.diffs(to_do.files)],
    }


def _tell(module: AnsibleModule, files: fileset.Files, root: str) -> None:
    network = {path: after for path, (_before, after) in files.items() if work.is_mtu(path)}
    if network:
        mtu.tell(network)
    if not unit.has_systemd(root):
        return
    if data.UNIT in files:
        module.run_command(["systemctl", "daemon-reload"], check_rc=True)
    if data.RULE in files:
        module.run_command(["udevadm", "control", "--reload"], check_rc=True)


def _shown(change: mtu.Change) -> dict[str, str]:
    before, after = str(change.before), str(change.after)
    return {"knob": desired.MTU, "subject": change.netdev, "before": before, "after": after}


def _lines(settings: list[Setting], changes: list[mtu.Change]) -> list[tuple[str, str, str]]:
    """What is set, its value before and after."""
    lines = [
        (f"{setting.knob} of {setting.subject}", setting.before or "unknown", setting.after) for setting in settings
    ]
    return lines + [(f"mtu of {change.netdev}", str(change.before), str(change.after)) for change in changes]


def _sentence(plan: desired.Plan, done: list[Setting], changes: list[mtu.Change]) -> str:
    values = [f"{what}: {before} -> {after}" for what, before, after in _lines(done, changes)]
    asked = len(plan.wanted) + len(plan.mtus)
    return f"{asked} RoCE settings, set now: {', '.join(values) or 'none'}"


def _values(settings: list[Setting], changes: list[mtu.Change]) -> list[dict[str, str]]:
    lines = _lines(settings, changes)
    before = "".join(f"{what}: {value}\n" for what, value, _after in lines)
    after = "".join(f"{what}: {value}\n" for what, _before, value in lines)
    return [state.diff("RoCE", before, after)] if lines else []


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "devices": {"type": "list", "elements": "str", "default": []},
            "mode": {"type": "str", "choices": [desired.KEEP, *desired.MODES], "default": desired.KEEP},
            "tos": {"type": "int"},
            "trust": {"type": "str", "choices": ["dscp", "pcp"]},
            "pfc": {"type": "list", "elements": "int"},
            "ecn": {"type": "bool"},
            "mtu": {"type": "int"},
            "where_possible": {"type": "bool", "default": False},
            "ssh_port": {"type": "int", "default": 22},
            "connection_ok": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        result = _keep(module)
    except (HostError, IpoibError, Unavailable, state.StateError) as exc:
        module.fail_json(msg=f"RoCE: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"RoCE: {exc.filename} cannot be used: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
