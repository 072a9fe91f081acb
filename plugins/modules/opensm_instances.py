#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: opensm_instances
short_description: Run opensm on a host's ports, one instance for each fabric
version_added: 0.1.0
description:
  - Writes C(/etc/ibready/opensm/NAME.conf) and its partitions, and runs each instance as
    C(ibready-opensm@NAME.service) with a memory of LIDs and a log of its own.
  - What opensm takes up without a restart (partitions, and most settings) is told to it by SIGHUP.
  - Afterwards C(sminfo) has to show this instance as master or standby, and one of
    O(hosts) as master, and opensm's log no complaint of its files; else they are put back.
options:
  state:
    description: With V(absent), all of these instances are stopped and their files go.
    type: str
    choices: [present, absent]
    default: present
  host:
    description: This host's name in O(hosts).
    type: str
    required: true
  hosts:
    description: The hosts that run subnet managers, the first choice first.
    type: list
    elements: str
    default: []
  priorities:
    description: Priorities (0 to 15) by host, where not 14, 13, 12 by their order.
    type: dict
    default: {}
  alone_ok:
    description: Whether O(hosts) may be one host.
    type: bool
    default: false
  fabrics:
    description:
      - The fabrics, each with C(name), C(port) (V(mlx5_0/1) or V(auto)), and where it differs,
        C(routing_engine), C(root_guids), C(partitions) and C(settings).
    type: list
    elements: dict
    default: [{name: fabric}]
  routing_engine:
    description: The routing engine, or several in the order of trying.
    type: raw
    default: [minhop]
  root_guids:
    description: The node GUIDs of the root switches, for C(updn), C(dnup) and C(ftree).
    type: list
    elements: raw
    default: []
  partitions:
    description:
      - The partitions, each with C(name), C(pkey), C(ipoib), C(rate) in Gb/s, C(mtu) in bytes,
        C(sl), and its members under C(full) and C(limited).
      - Without any, everybody is a full member of the default one.
    type: list
    elements: dict
    default: []
  settings:
    description: More keys of C(opensm.conf), as this opensm knows them.
    type: dict
    default: {}
  takeover_seconds:
    description: How long the master may be silent before a standby goes for its place.
    type: float
    default: 20
  log_mb:
    description: The size in MB at which opensm begins its log anew.
    type: int
    default: 64
  seen:
    description:
      - What M(ibready.cluster.opensm_look) returned on each of O(hosts) that it ran on.
      - A host whose answer cannot be read counts as one that did not tell.
    type: list
    elements: dict
    default: []
  beside:
    description: Whether an instance may run beside a master that is none of O(hosts).
    type: bool
    default: false
  restart_ok:
    description: Whether the only subnet manager of a fabric may be restarted or stopped.
    type: bool
    default: false
  wait:
    description: Seconds to wait for the fabric's word.
    type: float
    default: 60
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
notes:
  - An opensm that somebody else started on the host is never stopped.
"""

EXAMPLES = r"""
- name: Look at the fabric
  ibready.cluster.opensm_look:
    host: "{{ inventory_hostname }}"
    fabrics: [{name: compute, port: mlx5_0/1}]
  register: looked

- name: Run the only subnet manager of a small fabric
  ibready.cluster.opensm_instances:
    host: "{{ inventory_hostname }}"
    hosts: ["{{ inventory_hostname }}"]
    alone_ok: true
    fabrics: [{name: compute, port: mlx5_0/1}]
    routing_engine: [ftree, updn]
    seen: ["{{ looked }}"]
"""

RETURN = r"""
acts:
  description:
    - What was done, or would be, by instance. It is one of C(started), C(restart), C(reload) and
      C(stopped).
  type: dict
  returned: success
  sample: {"compute": "reload"}
fabrics:
  description: What each port shows afterwards, as M(ibready.cluster.opensm_look) returns it.
  type: dict
  returned: success
msg: {type: str, returned: success, description: "Who is master and who stands by, in a sentence."}
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._act.opensm import apply, ask, conf, fabrics
from ..module_utils._act.opensm.fabrics import OpensmError
from ..module_utils._data import opensm as data
from ..module_utils._evidence.sources import Evidence, Live
from ..module_utils._ground import state
from ..module_utils._ground.command import Unavailable

_SHARED = ("routing_engine", "root_guids", "partitions", "settings")


def _wished(given: dict[str, Any]) -> tuple[fabrics.Fabric, ...]:
    if given["state"] == "absent":
        return ()
    priority = fabrics.priorities(given["hosts"], given["priorities"], given["alone_ok"])
    if given["host"] not in priority:
        raise OpensmError(f"{given['host']} is not one of {', '.join(priority)}")
    return fabrics.read(
        given["fabrics"],
        {key: given[key] for key in _SHARED},
        priority[given["host"]],
        ask.managers(given["seen"]),
        takeover_s=given["takeover_seconds"],
        log_mb=given["log_mb"],
    )


def _lids(seen: list[dict[str, Any]], name: str) -> list[int]:
    return [int(entry["fabrics"][name]["lid"]) for entry in seen if name in entry["fabrics"]]


def _gone(evidence: Evidence, given: dict[str, Any], wished: set[str]) -> list[apply.Plan]:
    """Instances to be taken away; OpensmError where that would leave a fabric alone."""
    found = apply.stale(wished)
    for plan in found:
        if not apply.active(plan.name):
            continue
        port = conf.read(plan.before[conf.paths(plan.name)["conf"]]).get("guid", "")
        here = ask.by_guid(evidence, port)
        if here is not None:
            apply.refuse_stop(evidence, plan, here, _lids(given["seen"], plan.name), given["restart_ok"])
    return found


def _run(module: AnsibleModule, wished: tuple[fabrics.Fabric, ...]) -> dict[str, Any]:
    given = module.params
    evidence = Live()
    gone = _gone(evidence, given, {entry.name for entry in wished})
    if not wished:
        return _absent(module, gone)
    known = apply.known_keys()
    for fabric in wished:
        conf.strange(fabric.settings, known)
    theirs = ask.others()
    if theirs:
        raise OpensmError(
            f"opensm runs already, and not as an instance of ibready: {', '.join(theirs)}. Next:"
            " stop and disable it where another subnet manager stands by, then run this again"
        )
    seen = ask.look(evidence, {entry.name: entry.port for entry in wished})
    ours = ask.managers(given["seen"])
    looked = {given["host"], *(entry["host"] for entry in given["seen"])}
    unseen = [host for host in given["hosts"] if host not in looked]
    plans = []
    for fabric in wished:
        here = seen[fabric.name]
        ask.refuse(fabric.name, here, ours.get(fabric.name, ()), unseen, given["beside"])
        item = apply.plan(fabric, here)
        lids = _lids(given["seen"], fabric.name)
        apply.refuse_stop(evidence, item, here, lids, given["restart_ok"])
        plans.append(item)
    shared = _shared(module, bool(known))
    if not module.check_mode:
        for item in gone:
            apply.act(item)
        for fabric, item in zip(wished, plans):
            seen[fabric.name] = _bring(module, evidence, fabric, item, seen[fabric.name], ours.get(fabric.name, []))
    return {
        **apply.result([*plans, *gone, shared]),
        "fabrics": {name: entry.to_dict() for name, entry in seen.items()},
        "msg": "; ".join(_sentence(name, entry) for name, entry in seen.items()),
    }


def _shared(module: AnsibleModule, installed: bool) -> apply.Plan:
    """The unit and the rotation of logs, of all instances; in place when this returns."""
    entry = apply.Plan("shared")
    if installed:
        entry.after = apply.shared_files()
        entry.before = {path: state.read(path) for path in entry.after}
    elif not module.check_mode:
        raise OpensmError("opensm is not installed. Next: see subnet_manager_packages")
    if entry.changed and not module.check_mode:
        apply.write(entry.after)
        apply.must("daemon-reload")
    return entry


def _bring(
    module: AnsibleModule,
    evidence: Evidence,
    fabric: fabrics.Fabric,
    plan: apply.Plan,
    here: ask.Seen,
    ours: list[str],
) -> ask.Seen:
    was_active = apply.active(fabric.name)
    given = module.params
    try:
        apply.put(plan)
        begin = apply.log_end(fabric.name)
        apply.act(plan)
        now = apply.settle(evidence, fabric, here, ours, given["beside"], given["wait"])
        if plan.act == conf.RELOAD and now.own == ask.MASTER:
            apply.swept(fabric.name, begin, given["wait"])
        complaint = apply.complaint(fabric.name, begin)
        if complaint:
            raise OpensmError(f"fabric {fabric.name}: opensm says: {complaint}")
    except (OpensmError, Unavailable, OSError) as exc:
        if plan.act == conf.NOTHING:
            raise
        try:
            back = apply.put_back(plan, was_active=was_active)
        except (Unavailable, OSError) as again:
            back = f"The files could not be put back: {again}"
        raise OpensmError(f"{exc}. {back}") from exc
    return now


def _absent(module: AnsibleModule, gone: list[apply.Plan]) -> dict[str, Any]:
    common = apply.Plan("shared")
    for path in (data.UNIT_FILE, data.LOGROTATE):
        if os.path.exists(path):
            common.before[path], common.after[path] = state.read(path), ""
    if not module.check_mode:
        for plan in gone:
            apply.act(plan)
        if common.changed:
            apply.write(common.after)
            apply.must("daemon-reload")
    return {
        **apply.result([*gone, common]),
        "fabrics": {},
        "msg": "no subnet manager of ibready runs here",
    }


def _sentence(name: str, now: ask.Seen) -> str:
    part = {ask.MASTER: "is the master", ask.STANDBY: "stands by"}.get(now.own, "does not run yet")
    master = f", {now.master} is the master" if now.master and now.own != ask.MASTER else ""
    return f"fabric {name}: {now.guid} ({now.port}) {part}{master}"


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "host": {"type": "str", "required": True},
            "hosts": {"type": "list", "elements": "str", "default": []},
            "priorities": {"type": "dict", "default": {}},
            "alone_ok": {"type": "bool", "default": False},
            "fabrics": {"type": "list", "elements": "dict", "default": [{"name": "fabric"}]},
            "routing_engine": {"type": "raw", "default": ["minhop"]},
            "root_guids": {"type": "list", "elements": "raw", "default": []},
            "partitions": {"type": "list", "elements": "dict", "default": []},
            "settings": {"type": "dict", "default": {}},
            "takeover_seconds": {"type": "float", "default": 20},
            "log_mb": {"type": "int", "default": 64},
            "seen": {"type": "list", "elements": "dict", "default": []},
            "beside": {"type": "bool", "default": False},
            "restart_ok": {"type": "bool", "default": False},
            "wait": {"type": "float", "default": 60},
        },
        supports_check_mode=True,
    )
    module.params["seen"] = ask.told(module.params["seen"])
    try:
        result = _run(module, _wished(module.params))
    except (OpensmError, Unavailable) as exc:
        module.fail_json(msg=f"Subnet manager: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"Subnet manager: {exc.filename} cannot be used: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
