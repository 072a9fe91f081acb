#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rdma_data
short_description: Move data over RDMA between two hosts, and between their containers
version_added: 0.1.0
description:
  - Starts C(ibv_rc_pingpong), C(ib_send_lat), C(ib_write_bw) and C(rping) as servers on a host's
    RDMA ports, and asks those of another host; on the hosts themselves as root, and in containers
    as root and as another user.
  - On each side all programs of one place run under one transient systemd unit with a time limit
    of its own, so that they end even where the controller dies. A server takes one client.
  - In containers they run as M(ibready.cluster.containerverify) starts them (docs/rdma.md).
  - Data that did not arrive is an answer with its reason, not a failure of the module.
  - With every state the servers of an earlier call are ended first, and what they said is told.
    What another run has there is left alone; nothing is started beside it, and the answers say who
    is at work.
    C(playbooks/rdma.yml) sees to it that a host either serves or asks.
options:
  state:
    description:
      - With V(serving), a server is started for every one of O(ends).
      - With V(asked), every one of O(questions) is put, one after the other.
      - With V(stopped), no program, container or image of ours is left.
    type: str
    choices: [serving, asked, stopped]
    required: true
  ends:
    description: Where to serve. For O(state=serving).
    type: list
    elements: dict
    default: []
    suboptions: &end
      where:
        description: V(host), or in a container as V(root) or as another V(user).
        type: str
        choices: [host, root, user]
        default: host
      test:
        description: The program - C(ibv_rc_pingpong), C(ib_send_lat), C(ib_write_bw) or C(rping).
        type: str
        choices: [verbs, latency, bandwidth, cm]
        required: true
      device: {type: str, required: true, description: The local RDMA device.}
      port: {type: int, default: 1, description: Its port.}
      gid_index:
        description: The entry of its GID table to use; V(-1) on InfiniBand, which goes by LID.
        type: int
        default: -1
      mtu: {type: int, default: 0, description: Bytes of a packet for C(ibv_rc_pingpong); V(0) for its own choice.}
      tcp_port:
        description: The port at which both ends meet; of C(rping) a port of the RDMA connection
          manager.
        type: int
        required: true
      address:
        description: The IP address of the serving rail, which C(rping) needs at both ends.
        type: str
        default: ""
      soft: {type: bool, default: false, description: "One of the two devices is software, and is asked for little."}
      rail:
        description: A label for the answer, as O(ends[].client), O(ends[].server) and
          O(ends[].run).
        type: str
        default: ""
      client: {type: str, default: "", description: A label for the answer.}
      server: {type: str, default: "", description: A label for the answer.}
      run: {type: str, default: "", description: A label for the answer.}
  questions:
    description: What to ask, as O(ends), and whom. For O(state=asked).
    type: list
    elements: dict
    default: []
    suboptions:
      to: {type: str, required: true, description: "The server's address by TCP, or a name that this host resolves."}
      <<: *end
  gone:
    description: What O(state=serving) returned on the other host as RV(gone), a list of
      dictionaries. Such a question is not put, and its answer says why; what is no such list is
      passed over. For O(state=asked).
    type: raw
    default: []
  container:
    description:
      - What containers are started with, C(ibready_expect.container) of docs/containers.md - the
        keys C(engine), C(network), C(devices), C(options), C(user), C(image) and C(pull).
      - Without C(image) a tiny one is made of the host's own files.
    type: dict
    default: {}
  lease:
    description:
      - Seconds after which servers end by themselves, 1 to 21600. For O(state=serving), and
        O(state=asked), for which other runs have to wait so long at most.
    type: int
    default: 300
extends_documentation_fragment: [ibready.cluster.run, ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Does nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Wait for who sends data to this host
  ibready.cluster.rdma_data:
    state: serving
    ends:
      - test: verbs
        device: mlx5_0
        gid_index: 3
        tcp_port: 18700

- name: Move data to another host, and back
  ibready.cluster.rdma_data:
    state: asked
    questions:
      - to: 10.1.0.12
        test: verbs
        device: mlx5_0
        gid_index: 3
        tcp_port: 18700
        server: node2
        rail: mlx5_0/1
  register: moved

- name: Leave nothing
  ibready.cluster.rdma_data:
    state: stopped
"""

RETURN = r"""
answers:
  description: One answer per question, in the same order.
  type: list
  elements: dict
  returned: with O(state=asked)
  contains:
    where: {type: str, description: "The question's, as C(test), C(rail), C(client), C(server), C(tcp_port), C(run)."}
    state: {type: str, description: "V(moved), V(failed) or V(untested)."}
    kind: {type: str, sample: memlock, description: What kind of failure the words tell; empty where they tell none.}
    said:
      description: Why no data arrived, or why nobody tried; empty where it arrived.
      type: str
      sample: "ibv_rc_pingpong: Couldn't register MR"
    at: {type: str, description: "Whose word that is, C(client) or C(server)."}
    bytes: {type: int, description: "How many arrived, where the program tells."}
    gbps: {type: float, description: Gb/s of C(ib_write_bw).}
    usec: {type: float, description: Median microseconds of C(ib_send_lat).}
    pings: {type: int, description: How many came back to C(rping).}
inside:
  description: What the shells that asked saw, by C(where) - C(memlock), C(devices), and C(why) one
    did not come to its end.
  type: dict
  returned: with O(state=asked)
gone:
  description: Servers that are gone before anybody asked, with their labels, C(state), C(kind) and
    C(said).
  type: list
  elements: dict
  returned: with O(state=serving)
served:
  description: What the servers of an earlier call said, with their labels - C(kind) and C(said) are
    empty where nothing went wrong; C(rc) is the exit status, none of one that had not ended;
    C(waits) that nobody had come to it by TCP.
  type: list
  elements: dict
  returned: always
holder:
  description: The other run that moves data here, as RV(ibready.cluster.run_lease#module:holder).
  type: dict
  returned: where another run moves data here
units: {type: list, elements: str, returned: with O(state=stopped), description: The units that were stopped.}
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between import lease
from ..module_utils._between.rdma import ends, node
from ..module_utils._data.rdma_tests import LEASE_MOST, TESTS, WHERE
from ..module_utils._ground import unit
from ..module_utils._ground.command import Unavailable, run_by_name
from ..module_utils._ground.state import StateError
from ..module_utils._parse import _container_desired as wish

_END = {
    "where": {"type": "str", "choices": list(WHERE), "default": "host"},
    "test": {"type": "str", "choices": sorted(TESTS), "required": True},
    "device": {"type": "str", "required": True},
    "port": {"type": "int", "default": 1},
    "gid_index": {"type": "int", "default": -1},
    "mtu": {"type": "int", "default": 0},
    "tcp_port": {"type": "int", "required": True},
    "address": {"type": "str", "default": ""},
    "soft": {"type": "bool", "default": False},
    "rail": {"type": "str", "default": ""},
    "client": {"type": "str", "default": ""},
    "server": {"type": "str", "default": ""},
    "run": {"type": "str", "default": ""},
}


def _act(given: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    serve = [ends.end(end) for end in given["ends"]]
    questions = [(ends.end(question), ends.address(question["to"])) for question in given["questions"]]
    here = node.Node(run_by_name, wish.read(given["container"]))
    if given["state"] == "stopped":
        if lease.other(lease.DATA, given["run"]):
            return {"changed": False, "served": [], "units": []}
        found = here.stop(dry=check_mode)
        if not check_mode:
            lease.give(lease.DATA, given["run"])
        return {"changed": bool(found["units"]), **found}
    if check_mode:
        return {"changed": False, "skipped": True, "msg": "no data is moved in check mode"}
    try:
        lease.have(lease.DATA, given, given["lease"])
    except lease.Busy as exc:
        refused = node.refused(serve, questions, str(exc))
        return {"changed": False, "served": [], "holder": asdict(exc.lease), **refused}
    if given["state"] == "serving":
        return {"changed": bool(serve), **here.serve(serve, given["lease"])}
    return {"changed": False, **here.ask(questions, given["gone"])}


def main() -> None:
    question = {"to": {"type": "str", "required": True}, **_END}
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["serving", "asked", "stopped"], "required": True},
            "ends": {"type": "list", "elements": "dict", "default": [], "options": _END},
            "questions": {"type": "list", "elements": "dict", "default": [], "options": question},
            "gone": {"type": "raw", "default": []},
            "container": {"type": "dict", "default": {}},
            "lease": {"type": "int", "default": 300},
            **lease.OPTIONS,
        },
        supports_check_mode=True,
    )
    if not 1 <= module.params["lease"] <= LEASE_MOST:
        module.fail_json(msg=f"rdma_data: lease must be from 1 to {LEASE_MOST}; nothing was started")
    try:
        result = _act(module.params, module.check_mode)
    except (Unavailable, unit.UnitError, StateError, OSError) as exc:
        module.fail_json(msg=f"rdma_data: {exc}")
    except ValueError as exc:
        module.fail_json(msg=f"rdma_data: {exc}; nothing was started")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
