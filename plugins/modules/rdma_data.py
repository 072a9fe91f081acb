#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rdma_data
short_description: Move data over RDMA between two hosts, and between their containers
version_added: 0.2.0
description:
  - Starts C(ibv_rc_pingpong), C(ib_send_lat), C(ib_write_bw) and C(rping) as servers on a host's
    RDMA ports, and asks those of another host; on the hosts themselves as root, and in containers
    as root and as another user.
  - On each side all programs of one place run under one transient systemd unit with a time limit
    of its own, so that they end even where the controller dies. A server takes one client.
  - In containers they run as M(ibready.cluster.containerverify) starts them, with the devices and
    limits that jobs get, in an image that is made of the host's own files, or in one that is named.
  - Data that did not arrive is an answer with its reason, not a failure of the module.
  - With every state the servers of an earlier call are ended first, and what they said is told.
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
      device:
        description: The local RDMA device.
        type: str
        required: true
      port:
        description: Its port.
        type: int
        default: 1
      gid_index:
        description: The entry of its GID table to use; V(-1) on InfiniBand, which goes by LID.
        type: int
        default: -1
      mtu:
        description: Bytes of a packet for C(ibv_rc_pingpong); V(0) for its own choice.
        type: int
        default: 0
      tcp_port:
        description: The port at which both ends meet; of C(rping) a port of the RDMA connection
          manager.
        type: int
        required: true
      address:
        description: The IP address of the serving rail, which C(rping) needs at both ends.
        type: str
        default: ""
      soft:
        description: One of the two devices is software, and is asked for little.
        type: bool
        default: false
      rail:
        description: A label for the answer, as O(ends[].client), O(ends[].server) and
          O(ends[].run).
        type: str
        default: ""
      client:
        description: A label for the answer.
        type: str
        default: ""
      server:
        description: A label for the answer.
        type: str
        default: ""
      run:
        description: A label for the answer.
        type: str
        default: ""
  questions:
    description: What to ask, as O(ends), and whom. For O(state=asked).
    type: list
    elements: dict
    default: []
    suboptions:
      to:
        description: The server's address by TCP, or a name that this host resolves.
        type: str
        required: true
      <<: *end
  gone:
    description: What O(state=serving) returned on the other host as RV(gone). Such a question
      is not put, and its answer says why. For O(state=asked).
    type: list
    elements: dict
    default: []
  container:
    description:
      - What containers are started with, C(ibready_expect.container) of docs/containers.md - the
        keys C(engine), C(network), C(devices), C(options), C(user), C(image) and C(pull).
      - Without C(image) a tiny one is made of the host's own files.
    type: dict
    default: {}
  lease:
    description: Seconds after which servers end by themselves, 1 to 21600. For O(state=serving).
    type: int
    default: 300
attributes:
  check_mode:
    description: Does nothing in check mode.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
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
    where:
      description: The question's, as C(test), C(rail), C(client), C(server), C(tcp_port), C(run).
      type: str
    state:
      description: V(moved), V(failed) or V(untested).
      type: str
    kind:
      description: What kind of failure the words tell; empty where they tell none.
      type: str
      sample: memlock
    said:
      description: Why no data arrived, or why nobody tried; empty where it arrived.
      type: str
      sample: "ibv_rc_pingpong: Couldn't register MR"
    at:
      description: Whose word that is, C(client) or C(server).
      type: str
    bytes:
      description: How many arrived, where the program tells.
      type: int
    gbps:
      description: Gb/s of C(ib_write_bw).
      type: float
    usec:
      description: Median microseconds of C(ib_send_lat).
      type: float
    pings:
      description: How many came back to C(rping).
      type: int
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
units:
  description: The units that were stopped.
  type: list
  elements: str
  returned: with O(state=stopped)
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils import _unit
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    find_program,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
    LEASE_MOST,
    TESTS,
    WHERE,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe import wish
from ansible_collections.ibready.cluster.plugins.module_utils._rdma import ends, node
from ansible_collections.ibready.cluster.plugins.module_utils._state import StateError

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


def _run(argv: list[str], timeout: float) -> Output:
    return run_program(argv[0], [find_program(argv[0]), *argv[1:]], timeout)


def _act(given: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    serve = [ends.end(one) for one in given["ends"]]
    questions = [(ends.end(one), ends.address(one["to"])) for one in given["questions"]]
    here = node.Node(_run, wish.read(given["container"]))
    if given["state"] == "stopped":
        found = here.stop(dry=check_mode)
        return {"changed": bool(found["units"]), **found}
    if check_mode:
        return {"changed": False, "skipped": True, "msg": "no data is moved in check mode"}
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
            "gone": {"type": "list", "elements": "dict", "default": []},
            "container": {"type": "dict", "default": {}},
            "lease": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    if not 1 <= module.params["lease"] <= LEASE_MOST:
        module.fail_json(
            msg=f"rdma_data: lease must be from 1 to {LEASE_MOST}; nothing was started"
        )
    try:
        result = _act(module.params, module.check_mode)
    except (Unavailable, _unit.UnitError, StateError, OSError) as exc:
        module.fail_json(msg=f"rdma_data: {exc}")
    except ValueError as exc:
        module.fail_json(msg=f"rdma_data: {exc}; nothing was started")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
