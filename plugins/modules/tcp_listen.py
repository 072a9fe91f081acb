#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tcp_listen
short_description: Listen on TCP ports of this node for a while
version_added: 0.1.0
description:
  - Listens on given ports, and on a few that stand for the range from which the kernel takes the
    ports of NCCL's sockets, so that M(ibready.cluster.tcp_reach) on other nodes can prove the way.
  - The listener is a process of its own without any right, which says one line per connection, by
    which those who know O(token) know whose port they reached, and closes. It reads nothing, and
    ends by itself after O(lease) seconds.
  - A port that another program has is told in RV(held), and is no failure.
options:
  state:
    description:
      - With V(listening), a new listener is started.
      - With V(stopped), the listener O(id) runs no more.
    type: str
    choices: [listening, stopped]
    required: true
  ports:
    description: The ports to listen on; torch's rendezvous takes 29500 unless told otherwise.
    type: list
    elements: int
    default: [29500]
  range_ports:
    description:
      - How many ports of C(/proc/sys/net/ipv4/ip_local_port_range) to listen on as well. They lie
        spread over it, its ends included; for one that is in use its neighbour is taken.
    type: int
    default: 5
  address:
    description:
      - Listen on this address alone, where it is one of this node's. Where it is a name, or not an
        address of this node, on all.
    type: str
    default: ""
  name:
    description: What the listener says that it is; needed with O(state=listening).
    type: str
    default: ""
  token:
    description:
      - What listener and clients of one run know, at least 16 characters; needed with
        O(state=listening). It is never sent over the network.
    type: str
    default: ""
  lease:
    description: Seconds after which the listener ends by itself.
    type: int
    default: 120
  id:
    description: Which listener to stop, as RV(id) named it.
    type: str
    default: ""
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: In check mode nothing is started or stopped.
    support: full
"""

EXAMPLES = r"""
- name: Listen for a minute
  ibready.cluster.tcp_listen:
    state: listening
    name: "{{ inventory_hostname }}"
    token: 0123456789abcdef0123456789abcdef
    lease: 60
  register: listening

- name: Listen no more
  ibready.cluster.tcp_listen:
    state: stopped
    id: "{{ listening.id }}"
"""

RETURN = r"""
id:
  description: What to stop it by; empty where it has no port to listen on.
  type: str
  returned: with O(state=listening)
  sample: "4711:812345"
address:
  description: The address that it listens on; empty where on all.
  type: str
  returned: with O(state=listening)
ports:
  description: Those of O(ports) that it listens on.
  type: list
  elements: int
  returned: with O(state=listening)
held:
  description: Those of O(ports) that another program has.
  type: list
  elements: dict
  returned: with O(state=listening)
  contains:
    port: {type: int, description: The port.}
    by: {type: str, sample: "torchrun[4711] on 10.1.0.7", description: "Who has it, as far as can be seen."}
range:
  description: The kernel's range of ports.
  type: dict
  returned: with O(state=listening)
  contains:
    low: {type: int, description: "The first port, 0 where it was not asked for or cannot be told."}
    high: {type: int, description: The last port.}
    ports: {type: list, elements: int, description: Those that it listens on.}
    why: {type: str, description: Why these are not as many as asked for; empty otherwise.}
look:
  description: The command that shows this node's firewall rules, empty where there is none.
  type: str
  returned: with O(state=listening)
  sample: nft list ruleset
was_there:
  description: Whether the listener still ran when it was stopped.
  type: bool
  returned: with O(state=stopped)
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between.tcp import listen, ports
from ..module_utils._evidence.sources import Live
from ..module_utils._ground.command import Unavailable

# A forgotten listener must not outlive a working day; see tcp_plan.lease.
_LEASE_MOST = 6 * 3600
_TOKEN_LEAST = 16
_RANGE_MOST = 64
_NAME_MOST = 255


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["listening", "stopped"], "required": True},
            "ports": {"type": "list", "elements": "int", "default": [29500]},
            "range_ports": {"type": "int", "default": 5},
            "address": {"type": "str", "default": ""},
            "name": {"type": "str", "default": ""},
            "token": {"type": "str", "default": "", "no_log": True},
            "lease": {"type": "int", "default": 120},
            "id": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    try:
        result = _act(module.params, module.check_mode)
    except ValueError as exc:
        module.fail_json(msg=f"tcp_listen: {exc}; nothing was started or stopped")
    except (Unavailable, listen.ListenError) as exc:
        module.fail_json(msg=f"tcp_listen: {exc}")
    module.exit_json(**result)


def _act(given: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    if given["state"] == "stopped":
        there = False if check_mode else listen.stop(given["id"])
        return {"changed": there, "was_there": there}
    wanted = _wanted(given)
    if check_mode:
        return {"changed": True}
    return {"changed": True, **listen.start(Live(), wanted)}


def _wanted(given: dict[str, Any]) -> listen.Wanted:
    """Check the options; ValueError names the bad one."""
    for port in given["ports"]:
        if not 1 <= port <= ports.LAST:
            raise ValueError(f"port {port} is not between 1 and {ports.LAST}")
    if not 1 <= given["lease"] <= _LEASE_MOST:
        raise ValueError(f"lease must be from 1 to {_LEASE_MOST}, not {given['lease']}")
    if not 0 <= given["range_ports"] <= _RANGE_MOST:
        raise ValueError(f"range_ports must be from 0 to {_RANGE_MOST}")
    if not 1 <= len(given["name"].encode()) <= _NAME_MOST:
        raise ValueError(f"name must have from 1 to {_NAME_MOST} bytes")
    if len(given["token"]) < _TOKEN_LEAST:
        raise ValueError(f"token must have at least {_TOKEN_LEAST} characters")
    return listen.Wanted(
        ports=tuple(given["ports"]),
        count=given["range_ports"],
        address=given["address"],
        name=given["name"],
        token=given["token"].encode(),
        lease=given["lease"],
    )


if __name__ == "__main__":
    main()
