#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ipoib_interfaces
short_description: Give a host's InfiniBand ports IP interfaces that last
version_added: 0.1.0
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
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
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
backend: {type: str, returned: success, sample: netplan, description: The service.}
interfaces:
  description:
    - The interfaces by name, with their port, mode, MTU (0 is the kernel's own) and addresses.
  type: dict
  returned: success
  sample:
    ib0: {port: mlx5_0/1, mode: datagram, mtu: 0, addresses: [10.1.0.11/16]}
waits: {type: list, elements: str, returned: success, description: What holds at the next boot only.}
msg: {type: str, returned: success, description: "What was done, in a sentence."}
"""

from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._act.ipoib import desired, persist, ports
from ..module_utils._act.ipoib.desired import IpoibError, Link
from ..module_utils._data import ipoib as data
from ..module_utils._evidence.sources import Evidence, Live
from ..module_utils._ground import fileset
from ..module_utils._ground.command import Unavailable


def _present(module: AnsibleModule) -> dict[str, Any]:
    given, evidence = module.params, Live()
    links = desired.read(given["interfaces"], given["mode"], given["mtu"], given["index"])
    owns = {link.port: ports.own(evidence, link.port) for link in links}
    ports.refuse_mode(evidence, links, owns)
    for link in links:
        if link.wanted and not owns[link.port].alone:
            raise IpoibError(
                f"{link.port}: its card has several ports in one PCI function, which udev cannot"
                " tell apart. Next: leave out its name"
            )
    backend = persist.detect() if given["backend"] == "auto" else given["backend"]
    persist.refuse_backend(backend, links, persist.systemd())
    # What udev is to rename has its name at the next boot, and its files are for that one.
    parents = {link.port: link.wanted or owns[link.port].name for link in links if not link.pkey}
    wanted = {
        **persist.render(backend, links, parents),
        **persist.naming(links, {port: own.place for port, own in owns.items()}),
    }
    before = persist.ours()
    changed = fileset.look({**dict.fromkeys(before, ""), **wanted})
    now = [link for link in links if parents[link.port] == owns[link.port].name]
    waits = [
        f"{owns[link.port].name} becomes {link.wanted} at the next boot"
        for link in links
        if link.wanted and link not in now
    ]
    stirred = bool(changed or persist.late(evidence, now, parents))
    if stirred:
        names = [entry.name(parents[entry.port]) for entry in now]
        for path, (text, _after) in changed.items():
            names += [interface for interface in persist.interfaces_in(path, text) if interface not in names]
        ports.refuse_session(evidence, names, given["ssh_port"], given["connection_ok"])
    if changed:
        unreported = persist.validate(backend, wanted)
        waits += [unreported] if unreported else []
    if stirred and not module.check_mode:
        _bring(evidence, backend, changed, before, (now, parents, given["wait"]))
    return {
        "changed": stirred,
        "backend": backend,
        "interfaces": {
            link.name(parents[link.port]): {
                "port": link.port,
                "mode": link.mode,
                "mtu": link.mtu,
                "addresses": list(link.addresses),
            }
            for link in links
        },
        "waits": waits,
        "msg": f"{backend} has {len(links)} IPoIB interfaces" + "".join(f"; {w}" for w in waits),
        "diff": fileset.diffs(changed),
    }


def _bring(
    evidence: Evidence,
    backend: str,
    changed: fileset.Files,
    before: Mapping[str, str],
    wished: tuple[list[Link], dict[str, str], float],
) -> None:
    links, parents, wait = wished
    names = [parents[link.port] for link in links if not link.pkey]
    profiles = {persist.profile_name(link, parents): persist.profile_path(link, parents) for link in links}
    try:
        fileset.write(changed, mode=persist.file_mode)
        persist.apply(backend, names, profiles)
        persist.settle(evidence, links, parents, wait)
    except (IpoibError, Unavailable, OSError) as exc:
        fileset.put_back(changed, mode=persist.file_mode)
        back = "The files are as before"
        known = {name: path for name, path in profiles.items() if path in before}
        try:
            persist.apply(backend, names, known)
        except (IpoibError, Unavailable, OSError) as again:
            back += f", but {again}"
        raise IpoibError(f"{exc}. {back}. Next: see `journalctl -b -u systemd-networkd -u NetworkManager`") from exc


def _absent(module: AnsibleModule) -> dict[str, Any]:
    changed = fileset.look(dict.fromkeys(persist.ours(), ""))
    if not module.check_mode:
        fileset.write(changed, mode=persist.file_mode)
    return {
        "changed": bool(changed),
        "backend": module.params["backend"],
        "interfaces": {},
        "waits": ["interfaces keep what they have until the next boot"] if changed else [],
        "msg": f"{len(changed)} files of IPoIB interfaces are gone",
        "diff": fileset.diffs(changed),
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
