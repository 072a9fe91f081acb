#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ipoib_interfaces
short_description: Give a host's InfiniBand ports IP interfaces that last
version_added: 0.2.0
description:
  - Writes mode, MTU, partitions and addresses of IPoIB interfaces into the files of the service
    that has the host's interfaces - netplan, NetworkManager or systemd-networkd - after its own
    tool has read them elsewhere.
  - Then only these interfaces are set up anew, and the kernel is asked what they have. Where that
    is not what was wished, the files are put back, and the interfaces with them.
options:
  state:
    description: With V(absent), the files go. Interfaces keep what they have until the next boot.
    type: str
    choices: [present, absent]
    default: present
  interfaces:
    description:
      - The ports, each with C(port) (V(mlx5_0/1)), its C(addresses) (V(10.1.0.11/16)), or
        C(networks) in which it has the number O(index).
      - C(mode), C(mtu) and C(pkeys), a list of the same for partitions with C(pkey).
      - C(name), by which udev is to call the interface from the next boot on.
    type: list
    elements: dict
    default: []
  mode:
    description: The mode where an interface says none.
    type: str
    choices: [datagram, connected]
    default: datagram
  mtu:
    description:
      - The MTU where an interface says none. V(auto) is 65520 in connected mode, and in datagram
        mode what the kernel takes, that of the partition less 4.
    type: raw
    default: auto
  index:
    description: The host's number in C(networks).
    type: int
  backend:
    description: The service; V(auto) looks which one runs.
    type: str
    choices: [auto, netplan, networkmanager, networkd]
    default: auto
  ssh_port:
    description: The TCP port of logins besides 22. An interface that carries one is left alone.
    type: int
    default: 22
  connection_ok:
    description: Whether an interface may be changed that carries a login.
    type: bool
    default: false
  wait:
    description: Seconds to wait until the interfaces are as wished.
    type: float
    default: 30
attributes:
  check_mode:
    description: Says what would change and changes nothing.
    support: full
  diff_mode:
    description: Shows the files.
    support: full
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Two rails, and a partition on the first
  ibready.cluster.ipoib_interfaces:
    index: 11
    interfaces:
      - port: mlx5_0/1
        networks: [10.1.0.0/16]
        pkeys:
          - pkey: 0x8001
            networks: [10.101.0.0/16]
      - port: mlx5_1/1
        networks: [10.2.0.0/16]
        mtu: 4092
"""

RETURN = r"""
backend:
  description: The service.
  type: str
  returned: success
  sample: netplan
interfaces:
  description:
    - The interfaces by name, with their port, mode, MTU (0 is the kernel's own) and addresses.
  type: dict
  returned: success
  sample:
    ib0: {port: mlx5_0/1, mode: datagram, mtu: 0, addresses: [10.1.0.11/16]}
waits:
  description: What holds at the next boot only.
  type: list
  elements: str
  returned: success
msg:
  description: What was done, in a sentence.
  type: str
  returned: success
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._data import ipoib as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence, Live
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib import files, keep, ports, wish
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib.wish import IpoibError, Link


def _present(module: AnsibleModule) -> dict[str, Any]:
    given, evidence = module.params, Live()
    links = wish.read(given["interfaces"], given["mode"], given["mtu"], given["index"])
    owns = {one.port: ports.own(evidence, one.port) for one in links}
    ports.refuse_mode(evidence, links, owns)
    for one in links:
        if one.wanted and not owns[one.port].alone:
            raise IpoibError(
                f"{one.port}: its card has several ports in one PCI function, which udev cannot"
                " tell apart. Next: leave out its name"
            )
    backend = keep.detect() if given["backend"] == "auto" else given["backend"]
    keep.refuse_backend(backend, links, keep.systemd())
    # What udev is to rename has its name at the next boot, and its files are for that one.
    parents = {one.port: one.wanted or owns[one.port].name for one in links if not one.pkey}
    wanted = {
        **files.render(backend, links, parents),
        **files.naming(links, {port: own.place for port, own in owns.items()}),
    }
    before = keep.ours()
    changed = {path: text for path, text in wanted.items() if before.get(path, "") != text}
    changed.update({path: "" for path in before if path not in wanted})
    now = [one for one in links if parents[one.port] == owns[one.port].name]
    waits = [
        f"{owns[one.port].name} becomes {one.wanted} at the next boot"
        for one in links
        if one.wanted and one not in now
    ]
    stirred = bool(changed or keep.late(evidence, now, parents))
    if stirred:
        names = [one.name(parents[one.port]) for one in now]
        for path in changed:
            names += [
                one for one in files.interfaces(path, before.get(path, "")) if one not in names
            ]
        ports.refuse_session(evidence, names, given["ssh_port"], given["connection_ok"])
    if changed:
        untold = keep.validate(backend, wanted)
        waits += [untold] if untold else []
    if stirred and not module.check_mode:
        _bring(evidence, backend, changed, before, (now, parents, given["wait"]))
    return {
        "changed": stirred,
        "backend": backend,
        "interfaces": {
            one.name(parents[one.port]): {
                "port": one.port,
                "mode": one.mode,
                "mtu": one.mtu,
                "addresses": list(one.addresses),
            }
            for one in links
        },
        "waits": waits,
        "msg": f"{backend} has {len(links)} IPoIB interfaces" + "".join(f"; {w}" for w in waits),
        "diff": _diff(changed, before),
    }


def _bring(
    evidence: Evidence,
    backend: str,
    changed: dict[str, str],
    before: dict[str, str],
    wished: tuple[list[Link], dict[str, str], float],
) -> None:
    links, parents, wait = wished
    names = [parents[one.port] for one in links if not one.pkey]
    profiles = {files.profile_name(one, parents): files.profile_path(one, parents) for one in links}
    try:
        keep.write(changed)
        keep.apply(backend, names, profiles)
        keep.settle(evidence, links, parents, wait)
    except (IpoibError, Unavailable, OSError) as exc:
        keep.write({path: before.get(path, "") for path in changed})
        back = "The files are as before"
        known = {name: path for name, path in profiles.items() if path in before}
        try:
            keep.apply(backend, names, known)
        except (IpoibError, Unavailable, OSError) as again:
            back += f", but {again}"
        raise IpoibError(
            f"{exc}. {back}. Next: see `journalctl -b -u systemd-networkd -u NetworkManager`"
        ) from exc


def _diff(changed: dict[str, str], before: dict[str, str]) -> list[dict[str, str]]:
    return [_state.diff(path, before.get(path, ""), text) for path, text in sorted(changed.items())]


def _absent(module: AnsibleModule) -> dict[str, Any]:
    before = keep.ours()
    changed = dict.fromkeys(before, "")
    if not module.check_mode:
        keep.write(changed)
    return {
        "changed": bool(changed),
        "backend": module.params["backend"],
        "interfaces": {},
        "waits": ["interfaces keep what they have until the next boot"] if changed else [],
        "msg": f"{len(changed)} files of IPoIB interfaces are gone",
        "diff": _diff(changed, before),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "interfaces": {"type": "list", "elements": "dict", "default": []},
            "mode": {"type": "str", "choices": list(data.MODES), "default": data.DATAGRAM},
            "mtu": {"type": "raw", "default": "auto"},
            "index": {"type": "int"},
            "backend": {
                "type": "str",
                "choices": ["auto", data.NETPLAN, data.MANAGER, data.NETWORKD],
                "default": "auto",
            },
            "ssh_port": {"type": "int", "default": 22},
            "connection_ok": {"type": "bool", "default": False},
            "wait": {"type": "float", "default": 30},
        },
        supports_check_mode=True,
    )
    try:
        result = _present(module) if module.params["state"] == "present" else _absent(module)
    except (IpoibError, Unavailable) as exc:
        module.fail_json(msg=f"IPoIB: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"IPoIB: {exc.filename} cannot be used: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
