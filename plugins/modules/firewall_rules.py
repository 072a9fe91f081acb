#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: firewall_rules
short_description: Let the nodes of a cluster reach each other's ports through the host's firewall
version_added: 0.1.0
description:
  - Adds to the firewall that is active on the host what lets the given nodes in on the given ports.
    Nothing is closed, no firewall is enabled, and no rule of others changes or goes.
  - What that is in C(nftables), C(firewalld) and C(ufw), tells docs/firewall.md. Afterwards the
    firewall is asked what it holds.
options:
  state:
    description: With V(absent), all that this module added goes, from every firewall.
    type: str
    choices: [present, absent]
    default: present
  backend:
    description:
      - The firewall. V(auto) takes the one that is active, and changes nothing where none is.
    type: str
    choices: [auto, nftables, firewalld, ufw, none]
    default: auto
  nodes:
    description:
      - The nodes by name, as P(ibready.cluster.firewall_nodes#filter) gives them. Required with
        O(state=present).
      - A node that is not C(complete) keeps the addresses that it had on the last run.
    type: dict
  sources:
    description: More addresses and networks that may come in, such as a login node's.
    type: list
    elements: str
    default: []
  tcp:
    description: TCP ports and ranges of ports (V(30000-30100)).
    type: list
    elements: str
    default: []
  kernel_range:
    description:
      - Whether the TCP ports are open that the kernel gives to sockets without one, for NCCL's
        are such (C(/proc/sys/net/ipv4/ip_local_port_range)).
    type: bool
    default: true
  udp:
    description: UDP ports and ranges of ports.
    type: list
    elements: str
    default: []
  roce:
    description:
      - Whether UDP 4791 is open as well, RoCE's port. V(auto) looks whether an RDMA port of the
        host is Ethernet.
    type: str
    choices: [auto, always, never]
    default: auto
  reload_ok:
    description: Whether firewalld may be reloaded although it holds rules that are not permanent.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows what the firewall holds of ours.
    support: full
notes:
  - Established connections are not touched.
  - RDMA over Converged Ethernet goes past the kernel's firewall on hardware; UDP 4791 counts for
    software RDMA (rxe), and for filters that read this ruleset.
"""

EXAMPLES = r"""
- name: Let two nodes meet
  ibready.cluster.firewall_rules:
    nodes:
      node1: {addresses: [10.1.0.11], complete: true}
      node2: {addresses: [10.1.0.12], complete: true}
    tcp: ["22", "29500"]

- name: Take it back
  ibready.cluster.firewall_rules:
    state: absent
"""

RETURN = r"""
backend: {type: str, returned: success, sample: nftables, description: The firewall; C(none) where none is active.}
sources: {type: list, elements: str, returned: success, sample: [10.1.0.11, 10.1.0.12], description: Who is let in.}
tcp: {type: list, elements: str, returned: success, sample: ["22", "29500", "32768-60999"], description: The TCP ports.}
udp: {type: list, elements: str, returned: success, sample: ["4791"], description: The UDP ports.}
msg: {type: str, returned: success, description: "What was found and done, in a sentence."}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.firewall import act, desired as wanted
from ..module_utils._act.firewall.desired import merge_nodes
from ..module_utils._act.firewall.tool import Change, FirewallError
from ..module_utils._between.tcp import ports
from ..module_utils._evidence import ask
from ..module_utils._evidence.sources import Live, Unavailable
from ..module_utils._ground import state, warn

_DEVICES = "/sys/class/infiniband"
# RoCE v2 (IANA, service name roce).
_ROCE = (4791, 4791)


def _has_roce() -> bool:
    """Whether an RDMA port of this host is Ethernet; a port that cannot be read is none."""
    evidence = Live()
    for device in ask.names(evidence, _DEVICES).value or ():
        for port in ask.names(evidence, f"{_DEVICES}/{device}/ports").value or ():
            layer = ask.text(evidence, f"{_DEVICES}/{device}/ports/{port}/link_layer")
            if layer.value == "Ethernet":
                return True
    return False


def _spans(given: dict[str, Any], proto: str) -> wanted.Spans:
    spans = [wanted.span(entry) for entry in given[proto]]
    if proto == "udp" and (given["roce"] == "always" or (given["roce"] == "auto" and _has_roce())):
        spans.append(_ROCE)
    if proto == "tcp" and given["kernel_range"]:
        try:
            spans.append(ports.parse_range(Live().read(ports.RANGE)))
        except (Unavailable, ValueError) as exc:
            raise FirewallError(
                f"{ports.RANGE} cannot be read: {exc}. Next: read it on the host, or name the"
                " ports in firewall_tcp_ports and say firewall_kernel_range: false"
            ) from exc
    return wanted.merged(spans)


def _present(given: dict[str, Any]) -> tuple[wanted.Wanted, dict[str, list[str]]]:
    nodes = merge_nodes(given["nodes"], act.remembered().get("nodes") or {})
    every = [address for addresses in nodes.values() for address in addresses]
    found = wanted.Wanted(wanted.sources([*every, *given["sources"]]), _spans(given, "tcp"), _spans(given, "udp"))
    if found.empty:
        raise FirewallError(
            "there is no node, or no port, to open anything for. Nothing was changed. Next: set ibready_address of the"
            " hosts, or firewall_sources; and where no port is open, firewall_tcp_ports"
        )
    return found, nodes


def _apply(module: AnsibleModule) -> dict[str, Any]:
    given = module.params
    due, nodes = _present(given) if given["state"] == "present" else (None, {})
    name = act.backend(given["backend"]) if due is not None else act.NONE
    # What an earlier run opened in another firewall goes.
    plans: list[tuple[str, wanted.Wanted | None, Change]] = [
        (backend, due if backend == name else None, act.change(backend, due if backend == name else None))
        for backend in act.BACKENDS
    ]
    stirred = [
        (plan, desired, planned) for plan, desired, planned in plans if planned.script or act.stale_files(planned)
    ]
    for item, _wish, planned in stirred:
        act.refuse(item, planned, given["reload_ok"])
    memory = {"backend": name, "nodes": nodes} if name != act.NONE else {}
    if not module.check_mode:
        for each, desired, planned in stirred:
            act.perform(each, desired, planned)
        if memory != act.remembered():
            state.save("firewall", memory)
    for _one, _wish, planned in plans:
        for text in planned.warnings:
            warn.of_host(module, text)
    for text in act.beside(name):
        warn.of_host(module, text)
    return {
        "changed": bool(stirred),
        "backend": name,
        "sources": list(due.sources) if due else [],
        "tcp": wanted.words(due.tcp) if due else [],
        "udp": wanted.words(due.udp) if due else [],
        "msg": _sentence(name, due, bool(stirred) and module.check_mode),
        "diff": [
            state.diff(entry, "\n".join(planned.before) + "\n", "\n".join(planned.after) + "\n")
            for entry, _wish, planned in stirred
        ],
    }


def _sentence(name: str, due: wanted.Wanted | None, planned: bool) -> str:
    """``planned``: check mode changed nothing of what it tells."""
    if due is None:
        left = "would be left" if planned else "is"
        return f"nothing of ibready {left} open in any firewall"
    if name == act.NONE:
        return (
            "no firewall is active on this host, or firewall_backend is none: nothing was opened,"
            " and nothing was closed"
        )
    lets = "would let" if planned else "lets"
    return f"{name} {lets} {len(due.sources)} addresses and networks in on: " + "; ".join(
        line for line in wanted.told(due) if not line.startswith("from ")
    )


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "backend": {
                "type": "str",
                "choices": [act.AUTO, "nftables", "firewalld", "ufw", act.NONE],
                "default": act.AUTO,
            },
            "nodes": {"type": "dict"},
            "sources": {"type": "list", "elements": "str", "default": []},
            "tcp": {"type": "list", "elements": "str", "default": []},
            "kernel_range": {"type": "bool", "default": True},
            "udp": {"type": "list", "elements": "str", "default": []},
            "roce": {"type": "str", "choices": ["auto", "always", "never"], "default": "auto"},
            "reload_ok": {"type": "bool", "default": False},
        },
        required_if=[("state", "present", ("nodes",))],
        supports_check_mode=True,
    )
    try:
        result = _apply(module)
    except (FirewallError, wanted.WantedError, state.StateError) as exc:
        module.fail_json(msg=f"Firewall: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"Firewall: {exc.filename} cannot be written: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
