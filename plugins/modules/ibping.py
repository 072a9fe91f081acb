#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ibping
short_description: Serve and send InfiniBand management pings
version_added: 0.1.0
description:
  - Runs the real C(ibping) of infiniband-diags on the node.
  - Servers are transient systemd units with a lease, so that they end by themselves when the
    controller is interrupted or loses the node.
  - The loss is read from the output, because C(ibping) ends with status 0 at 100 % loss.
options:
  state:
    description:
      - With V(serving), a server runs on each of O(endpoints), a stale one is replaced.
      - With V(stopped), no server of this module runs on the node.
      - With V(asked), each of O(questions) is asked, O(at_once) ports at a time.
    type: str
    choices: [serving, stopped, asked]
    required: true
  endpoints:
    description: The local ports to serve on.
    type: list
    elements: dict
    default: []
    suboptions:
      device:
        description: The RDMA device, as C(ibstat -l) names it.
        type: str
        required: true
      port:
        description: The port number on the device.
        type: int
        default: 1
  questions:
    description: The LIDs to ping, each from a local port.
    type: list
    elements: dict
    default: []
    suboptions:
      device:
        description: The RDMA device to send from.
        type: str
        required: true
      port:
        description: The port number on the device.
        type: int
        default: 1
      lid:
        description: The LID of the other host's port.
        type: int
        required: true
      rail:
        description: A label for the answer, the name of the rail.
        type: str
        default: ""
      server:
        description: A label for the answer, the name of the other host.
        type: str
        default: ""
      hostname:
        description:
          - The other host's own name. An answer from a host of another name is no answer, because
            the LID belongs to somebody else by now.
        type: str
        default: ""
  lease:
    description: Seconds after which a server ends by itself.
    type: int
    default: 300
  count:
    description: How many pings each question sends.
    type: int
    default: 50
  timeout_ms:
    description: Milliseconds to wait for each answer.
    type: int
    default: 200
  deadline:
    description: Seconds that one question may take; what was sent until then counts.
    type: int
    default: 15
  at_once:
    description:
      - How many ports ask at a time. The questions of one port are asked one after the other.
    type: int
    default: 1
    version_added: 0.2.0
attributes:
  check_mode:
    description: In check mode no server is started or stopped and nothing is asked.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Answer pings on the first rail for a minute
  ibready.cluster.ibping:
    state: serving
    endpoints:
      - device: mlx5_0
    lease: 60

- name: Ping another host over the first rail
  ibready.cluster.ibping:
    state: asked
    questions:
      - device: mlx5_0
        lid: 12
        rail: mlx5_0/1
        server: node2
  register: pings

- name: Stop answering
  ibready.cluster.ibping:
    state: stopped
"""

RETURN = r"""
units:
  description: The server units started or stopped.
  type: list
  elements: str
  returned: when O(state) is V(serving) or V(stopped)
  sample: ["ibready-ibping-mlx5_0-1.service"]
answers:
  description:
    - One answer per question, in the same order.
    - RV(answers[].untested) is empty where the question was put; otherwise it says why nothing can
      be said, and there are no numbers.
  type: list
  elements: dict
  returned: when O(state=asked)
  contains:
    rail:
      description: The question's label.
      type: str
    server:
      description: The question's label.
      type: str
    untested:
      description: Why nothing can be said; empty otherwise.
      type: str
    sent:
      description: Pings sent.
      type: int
    received:
      description: Answers received.
      type: int
    rtt_avg:
      description: Mean round-trip time in milliseconds, null without an answer.
      type: float
    rtt_max:
      description: Longest round-trip time in milliseconds, null without an answer.
      type: float
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils import _ibping, _unit
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    find_program,
    run_program,
)

_PORT = {"device": {"type": "str", "required": True}, "port": {"type": "int", "default": 1}}


def _run(argv: list[str], timeout: float, interrupt: float | None = None) -> Output:
    return run_program(argv[0], [find_program(argv[0]), *argv[1:]], timeout, interrupt)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["serving", "stopped", "asked"], "required": True},
            "endpoints": {"type": "list", "elements": "dict", "default": [], "options": _PORT},
            "questions": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    **_PORT,
                    "lid": {"type": "int", "required": True},
                    "rail": {"type": "str", "default": ""},
                    "server": {"type": "str", "default": ""},
                    "hostname": {"type": "str", "default": ""},
                },
            },
            "lease": {"type": "int", "default": 300},
            "count": {"type": "int", "default": 50},
            "timeout_ms": {"type": "int", "default": 200},
            "deadline": {"type": "int", "default": _ibping.DEADLINE},
            "at_once": {"type": "int", "default": 1},
        },
        supports_check_mode=True,
    )
    wanted = module.params
    for name in ("lease", "count", "timeout_ms", "deadline", "at_once"):
        if wanted[name] < 1:
            module.fail_json(msg=f"{name} must be at least 1, not {wanted[name]}")
    try:
        result = _act(wanted, module.check_mode)
    except ValueError as exc:
        module.fail_json(msg=f"ibping: {exc}; nothing was started")
    except (Unavailable, _unit.UnitError) as exc:
        module.fail_json(msg=f"ibping: {exc}")
    module.exit_json(**result)


def _act(wanted: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    ends = [_ibping.endpoint(one) for one in wanted["endpoints"]]
    questions = _ibping.parse_questions(wanted["questions"])
    if wanted["state"] == "stopped":
        units = _ibping.running(_run)
        return {"changed": bool(units), "units": units if check_mode else _ibping.stop(_run, units)}
    path = find_program("ibping")
    if wanted["state"] == "serving":
        units = [one.unit for one in ends]
        if not check_mode:
            units = _ibping.start(_run, path, ends, wanted["lease"])
        return {"changed": bool(units), "units": units}
    if check_mode:
        return {"changed": False, "answers": []}

    def ask(one: _ibping.Question) -> dict[str, Any]:
        count, timeout_ms = wanted["count"], wanted["timeout_ms"]
        return _ibping.ask(_run, path, one, count, timeout_ms, float(wanted["deadline"]))

    return {"changed": False, "answers": _ibping.ask_all(ask, questions, wanted["at_once"])}


if __name__ == "__main__":
    main()
