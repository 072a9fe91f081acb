#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
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
  - Servers are their run's own. Another run starts none beside them and stops none; it fails, and
    says who is at work.
  - The loss is read from the output, because C(ibping) ends with status 0 at 100 % loss.
options:
  state:
    description:
      - With V(serving), a server runs on each of O(endpoints), a stale one is replaced.
      - With V(stopped), no server of this module runs on the node, unless another run has them.
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
      device: {type: str, required: true, description: "The RDMA device, as C(ibstat -l) names it."}
      port: {type: int, default: 1, description: The port number on the device.}
  questions:
    description: The LIDs to ping, each from a local port.
    type: list
    elements: dict
    default: []
    suboptions:
      device: {type: str, required: true, description: The RDMA device to send from.}
      port: {type: int, default: 1, description: The port number on the device.}
      lid: {type: int, required: true, description: The LID of the other host's port.}
      rail: {type: str, default: "", description: "A label for the answer, the name of the rail."}
      server: {type: str, default: "", description: "A label for the answer, the name of the other host."}
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
    version_added: 0.1.0
extends_documentation_fragment: [ibready.cluster.run, ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: In check mode no server is started or stopped and nothing is asked.
    support: full
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
holder:
  description: The other run that has servers here, as RV(ibready.cluster.run_lease#module:holder).
  type: dict
  returned: where another run has servers here
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
    rail: {type: str, description: The question's label.}
    server: {type: str, description: The question's label.}
    untested: {type: str, description: Why nothing can be said; empty otherwise.}
    sent: {type: int, description: Pings sent.}
    received: {type: int, description: Answers received.}
    rtt_avg: {type: float, description: "Mean round-trip time in milliseconds, null without an answer."}
    rtt_max: {type: float, description: "Longest round-trip time in milliseconds, null without an answer."}
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between import ibping, lease
from ..module_utils._ground import unit
from ..module_utils._ground.command import Unavailable, find_program, run_by_name
from ..module_utils._ground.state import StateError

_PORT = {"device": {"type": "str", "required": True}, "port": {"type": "int", "default": 1}}


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
            "deadline": {"type": "int", "default": ibping.DEADLINE},
            "at_once": {"type": "int", "default": 1},
            **lease.OPTIONS,
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
    except lease.Busy as exc:
        module.fail_json(msg=f"ibping: {exc}; nothing was started", holder=asdict(exc.lease))
    except (Unavailable, unit.UnitError, StateError) as exc:
        module.fail_json(msg=f"ibping: {exc}")
    module.exit_json(**result)


def _act(wanted: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    ends = [ibping.endpoint(endpoint) for endpoint in wanted["endpoints"]]
    questions = ibping.parse_questions(wanted["questions"])
    if wanted["state"] == "stopped":
        return _stopped(wanted["run"], check_mode)
    path = find_program("ibping")
    if wanted["state"] == "serving":
        units = [end.unit for end in ends]
        if not check_mode:
            lease.have(lease.PINGS, wanted, wanted["lease"])
            units = ibping.start(run_by_name, path, ends, wanted["lease"])
        return {"changed": bool(units), "units": units}
    if check_mode:
        return {"changed": False, "answers": []}

    def ask(question: ibping.Question) -> dict[str, Any]:
        count, timeout_ms = wanted["count"], wanted["timeout_ms"]
        return ibping.ask(run_by_name, path, question, count, timeout_ms, float(wanted["deadline"]))

    return {"changed": False, "answers": ibping.ask_all(ask, questions, wanted["at_once"])}


def _stopped(run: str, check_mode: bool) -> dict[str, Any]:
    units = [] if lease.other(lease.PINGS, run) else ibping.running(run_by_name)
    if not check_mode:
        units = ibping.stop(run_by_name, units)
        lease.give(lease.PINGS, run)
    return {"changed": bool(units), "units": units}


if __name__ == "__main__":
    main()
