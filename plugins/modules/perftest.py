#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: perftest
short_description: Measure bandwidth and latency between two hosts with perftest
version_added: 0.1.0
description:
  - Starts C(ib_write_bw), C(ib_read_lat) and C(ib_send_lat) as servers on a host's RDMA ports, and
    asks those of another host.
  - Every program is a transient systemd unit with a time limit of its own, so that it ends even
    where the controller dies. A server takes one client.
  - A measurement loads the link. C(playbooks/bench.yml) sees to it that no job runs on the hosts
    and that no host takes part in two measurements at once.
  - A measurement that did not happen is an answer with its reason, not a failure of the module.
options:
  state:
    description:
      - With V(serving), a server is started for every one of O(ends), and those of an earlier run
        are stopped.
      - With V(asked), every one of O(questions) is measured, one after the other.
      - With V(watched), the port of O(ends) is watched until none of their servers runs, and counted then.
      - With V(stopped), no program of ours runs any more.
    type: str
    choices: [serving, asked, watched, stopped]
    required: true
  ends:
    description: Where to serve. For O(state=serving).
    type: list
    elements: dict
    default: []
    suboptions: &end
      device: {type: str, required: true, description: The local RDMA device.}
      port: {type: int, default: 1, description: Its port.}
      test:
        description: C(write_bw_gpu) sends from the memory of the nearest GPU, the others from the
          host's. Both ends have to agree.
        type: str
        choices: [write_bw, write_bw_gpu, read_lat, send_lat]
        required: true
      tcp_port: {type: int, required: true, description: "The TCP port at which both ends meet, and the server waits."}
      gid_index: {type: int, default: -1, description: "The entry of the GID table; V(-1) for the program's choice."}
      traffic_class: {type: int, default: 0, description: "The mark of RoCE packets; V(0) for none."}
  questions:
    description: What to measure. For O(state=asked).
    type: list
    elements: dict
    default: []
    suboptions:
      <<: *end
      address: {type: str, required: true, description: "The server's address, or a name that this host resolves."}
      server: {type: str, default: "", description: A label for the answer.}
      rail: {type: str, default: "", description: A label for the answer.}
  failed_ends:
    description: What O(state=serving) returned on the other host as RV(failed_ends), a
      dictionary. Such a question is not put, and its answer says why; what is no dictionary is
      passed over. For O(state=asked).
    type: raw
    default: {}
  count:
    description:
      - Returns the counters of loss, pauses, marks and CNPs of the first port of O(ends) or O(questions), before
        servers are started, before and after all questions are asked, and after the port was watched.
    type: bool
    default: false
  seconds:
    description: How long a bandwidth is measured.
    type: int
    default: 5
  lease:
    description: Seconds after which a server ends by itself. For O(state=serving).
    type: int
    default: 300
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Does nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Wait for one client
  ibready.cluster.perftest:
    state: serving
    ends:
      - device: mlx5_0
        test: write_bw
        tcp_port: 18515

- name: Measure against another host
  ibready.cluster.perftest:
    state: asked
    questions:
      - device: mlx5_0
        test: write_bw
        tcp_port: 18515
        address: 10.1.0.12
        server: node2
        rail: mlx5_0/1
  register: measured

- name: Leave nothing
  ibready.cluster.perftest:
    state: stopped
"""

RETURN = r"""
counted:
  description: With C(before) and C(after), as far as looked, the port's counters (C(values)), C(driver), C(why) none.
  type: dict
  returned: with O(count=true)
received:
  description: Seconds and bytes that the port received by RDMA, every second; empty where it does not tell.
  type: list
  elements: list
  returned: with O(state=watched)
failed_ends: {type: dict, returned: with O(state=serving), description: "Why a server is not there, by its TCP port."}
answers:
  description: One answer per question, in the same order.
  type: list
  elements: dict
  returned: with O(state=asked)
  contains:
    test: {type: str, description: The question's.}
    server: {type: str, description: The question's label.}
    rail: {type: str, description: The question's label.}
    untested: {type: str, description: Why there is no number; empty where there is one.}
    lost: {type: bool, description: "Whether data does not get through, where RV(answers[].untested) says so."}
    at: {type: str, description: "C(server) where RV(answers[].untested) is the other end's word, C(client) else."}
    gbps: {type: float, description: "Mean bandwidth in Gb/s, of the bandwidth tests."}
    usec: {type: float, description: "Median latency in microseconds, of the latency tests."}
    p99_usec: {type: float, description: "The 99th percentile, null where the release does not tell."}
units: {type: list, elements: str, returned: with O(state=stopped), description: The units that were stopped.}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between.bench import incast, perftest
from ..module_utils._data.bench import TESTS
from ..module_utils._evidence.sources import Live
from ..module_utils._ground import unit
from ..module_utils._ground.command import Unavailable, run_by_name

_END = {
    "device": {"type": "str", "required": True},
    "port": {"type": "int", "default": 1},
    "test": {"type": "str", "choices": list(TESTS), "required": True},
    "tcp_port": {"type": "int", "required": True},
    "gid_index": {"type": "int", "default": perftest.NO_GID},
    "traffic_class": {"type": "int", "default": 0},
}


def _act(given: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    ends = [perftest.end(end) for end in given["ends"]]
    questions = [
        (perftest.end(question), perftest.address(question["address"]), question) for question in given["questions"]
    ]
    if given["state"] == "stopped":
        units = unit.running(run_by_name, perftest.PREFIX)
        if not check_mode:
            unit.stop(run_by_name, units)
        return {"changed": bool(units), "units": units}
    if check_mode:
        return {"changed": False, "skipped": True, "msg": "nothing is measured in check mode"}
    port = next(iter([*ends, *(question for question, _address, _raw in questions)]), None)
    before = _counted("before", given, port)
    if given["state"] == "serving":
        failed = perftest.serve(run_by_name, ends, given["seconds"], given["lease"])
        return {"changed": bool(ends), "failed_ends": {str(entry): failed[entry] for entry in failed}, **_told(before)}
    if given["state"] == "watched":
        units = [entry.unit for entry in ends]
        limit = perftest.limit_of(ends[0].test, given["seconds"]) + perftest.OVERHEAD_S if ends else 0
        seen = port and incast.watch(Live(), port.device, port.port, limit, lambda: incast.serving(run_by_name, units))
        unit.stop(run_by_name, unit.running(run_by_name, perftest.PREFIX))
        return {"changed": False, "received": seen or [], **_told(_counted("after", given, port))}
    answers = [
        {
            "test": question.test,
            "server": raw["server"],
            "rail": raw["rail"],
            **_answer(question, address, given),
        }
        for question, address, raw in questions
    ]
    return {"changed": False, "answers": answers, **_told({**before, **_counted("after", given, port)})}


def _counted(when: str, given: dict[str, Any], port: perftest.End | None) -> dict[str, Any]:
    return {when: incast.look(Live(), port.device, port.port)} if given["count"] and port else {}


def _told(counted: dict[str, Any]) -> dict[str, Any]:
    return {"counted": counted} if counted else {}


def _answer(end: perftest.End, address: str, given: dict[str, Any]) -> dict[str, Any]:
    failed = given["failed_ends"]  # Another host's word.
    why = failed.get(str(end.tcp_port)) if isinstance(failed, dict) else None
    if why:
        return {"at": "server", "untested": str(why)}
    return {"at": "client", **perftest.ask(run_by_name, end, address, given["seconds"])}


def main() -> None:
    question = {
        **_END,
        "address": {"type": "str", "required": True},
        "server": {"type": "str", "default": ""},
        "rail": {"type": "str", "default": ""},
    }
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["serving", "asked", "watched", "stopped"], "required": True},
            "ends": {"type": "list", "elements": "dict", "default": [], "options": _END},
            "questions": {"type": "list", "elements": "dict", "default": [], "options": question},
            "failed_ends": {"type": "raw", "default": {}},
            "count": {"type": "bool", "default": False},
            "seconds": {"type": "int", "default": 5},
            "lease": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    for name, most in (("seconds", perftest.SECONDS_MOST), ("lease", perftest.LEASE_MOST)):
        if not 1 <= module.params[name] <= most:
            module.fail_json(msg=f"perftest: {name} must be from 1 to {most}; nothing was started")
    try:
        result = _act(module.params, module.check_mode)
    except ValueError as exc:
        module.fail_json(msg=f"perftest: {exc}; nothing was started")
    except (Unavailable, unit.UnitError) as exc:
        module.fail_json(msg=f"perftest: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
