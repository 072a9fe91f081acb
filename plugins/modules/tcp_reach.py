#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tcp_reach
short_description: Connect to TCP ports of other nodes and tell what became of each
version_added: 0.1.0
description:
  - Connects from this node to all ports of all O(peers) at once, and hears from each the
    line of the listener that M(ibready.cluster.tcp_listen) started there, so that neither another
    service nor another node is taken for it.
  - A connection that fails is an answer, not a failure of the module.
options:
  peers:
    description: The nodes to reach.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: What the listener there says that it is, and a label for the answers.
        type: str
        required: true
      address: {type: str, required: true, description: "Its address, or a name that this node resolves."}
      ports: {type: list, elements: int, default: [], description: Ports that the listener has.}
      held:
        description: Ports that another program has there; nothing is said to it.
        type: list
        elements: int
        default: []
  token:
    description:
      - What listeners and clients of one run know. Without it whoever accepts the connection will
        do.
    type: str
    default: ""
  timeout:
    description:
      - Seconds for each connection with its answer, and as many for each name to be resolved. With
        at least 3, a lost packet is sent again before it counts.
    type: float
    default: 3
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: In check mode nothing is asked.
    support: full
"""

EXAMPLES = r"""
- name: Does anybody accept connections on torch's port of node2?
  ibready.cluster.tcp_reach:
    peers:
      - name: node2
        address: 10.1.0.12
        ports: [29500]
  register: reached
"""

RETURN = r"""
answers:
  description: One answer per port, in the order of O(peers).
  type: list
  elements: dict
  returned: always
  contains:
    server: {type: str, description: The name of the peer.}
    port: {type: int, description: The port.}
    outcome:
      description:
        - V(answered), the peer's listener said its line; V(connected), nobody had to.
        - V(dropped), nothing came back in time; V(refused); V(unreachable); V(silent), connected
          and no answer came; V(other), somebody else answered.
        - V(unresolved), the name has no address; V(unable), this node could not even try.
      type: str
    ms: {type: float, description: "Milliseconds until connected, null where it was not."}
    said: {type: str, description: "The same in words, empty where all is well."}
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between.tcp import connect, ports

# Connections at one time; a thread each.
_MOST = 512


def main() -> None:
    numbers = {"type": "list", "elements": "int", "default": []}
    module = AnsibleModule(
        argument_spec={
            "peers": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {
                    "name": {"type": "str", "required": True},
                    "address": {"type": "str", "required": True},
                    "ports": numbers,
                    "held": numbers,
                },
            },
            "token": {"type": "str", "default": "", "no_log": True},
            "timeout": {"type": "float", "default": 3},
        },
        supports_check_mode=True,
    )
    given = module.params
    try:
        peers = [_peer(peer) for peer in given["peers"]]
        if not 0 < given["timeout"] <= 60:
            raise ValueError(f"timeout must be above 0 and at most 60, not {given['timeout']}")
        if sum(len(peer.ports) + len(peer.held) for peer in peers) > _MOST:
            raise ValueError(f"more than {_MOST} ports to connect to")
    except ValueError as exc:
        module.fail_json(msg=f"tcp_reach: {exc}; nothing was asked")
    if module.check_mode:
        module.exit_json(changed=False, answers=[])
    try:
        answers = connect.ask(peers, given["token"].encode(), given["timeout"])
    except RuntimeError as exc:
        module.fail_json(msg=f"tcp_reach: {exc}; next: see `ulimit -u` on this node")
    module.exit_json(changed=False, answers=[asdict(answer) for answer in answers])


def _peer(raw: dict[str, Any]) -> connect.Peer:
    """Check one of ``peers``; ValueError names what is wrong."""
    for port in (*raw["ports"], *raw["held"]):
        if not 1 <= port <= ports.LAST:
            raise ValueError(f"port {port} of {raw['name']} is not between 1 and {ports.LAST}")
    if not raw["address"]:
        raise ValueError(f"{raw['name']} has no address")
    return connect.Peer(raw["name"], raw["address"], tuple(raw["ports"]), tuple(raw["held"]))


if __name__ == "__main__":
    main()
