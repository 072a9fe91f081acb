#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: mpi_smoke
short_description: Run a small job under mpirun on several hosts, and see over what it spoke
version_added: 0.1.0
description:
  - Every process adds its number to those of all others and checks the sum. The job's output tells
    which transport the hosts used.
  - Needs Open MPI 4 or later and Python 3 on the hosts, and no ssh between them.
  - Two programs are laid out beside the scripts, C(smoke.py) and C(bindings.py); the second does the same by
    mpi4py, or by torch with C(backend=mpi), whichever its argument names.
  - All of it runs in the unit C(ibready-smoke.service) as an ordinary user, and below
    C(/var/lib/ibready-smoke). O(state=absent) ends and removes both; the unit ends by itself after
    O(timeout).
  - C(playbooks/smoke.yml) calls it in the order of the states.
options:
  state:
    description:
      - C(prepared) lays out the scripts, on every host; C(started) starts mpirun, on the first;
        C(joined) starts the daemon, on the others; C(finished) waits on the first, and judges;
        C(absent) tidies up on every host.
    type: str
    choices: [prepared, started, joined, finished, absent]
    required: true
  files:
    description: The scripts, name to text, as M(ibready.cluster.launch) returns them for C(mpirun).
      Needed with O(state=prepared).
    type: dict
  peers:
    description: The addresses of the other hosts as the hostfile has them. For O(state=started).
    type: list
    elements: str
    default: []
  command:
    description: What to run, from the answer of O(state=started). For O(state=joined).
    type: str
    default: ""
  user:
    description: The user that it runs as. Who logged in where it is left out, and C(nobody) where
      that is root.
    type: str
  timeout:
    description: Seconds after which it is ended.
    type: int
    default: 60
  ranks:
    description: How many processes there have to be. Needed with O(state=finished).
    type: int
  hosts:
    description: On how many hosts. Needed with O(state=finished).
    type: int
  rails:
    description: Whether RDMA is expected, because every host has a rail. For O(state=finished).
    type: bool
    default: false
  rails_why:
    description: Why it is not known whether every host has a rail; over TCP the job then proves
      nothing. For O(state=finished).
    type: str
    default: ""
  simulated:
    description: What of the hosts is simulated; no data goes through simulated HCAs. For
      O(state=finished).
    type: str
    default: ""
  settings:
    description: RV(settings) of every host, by its name. For O(state=finished).
    type: dict
    default: {}
  environment:
    description: More of the job's environment, name to value. For O(state=prepared),
      O(state=started) and O(state=joined).
    type: dict
    default: {}
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Does nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Wait for the job, and judge it
  ibready.cluster.mpi_smoke:
    state: finished
    ranks: 2
    hosts: 2
    rails: true

- name: Tidy up
  ibready.cluster.mpi_smoke:
    state: absent
"""

RETURN = r"""
commands:
  description: The command that each of the other hosts has to run, by its address.
  type: dict
  returned: with O(state=started)
mpirun: {type: str, returned: with O(state=prepared), description: The folder of mpirun.}
settings:
  description: What the host's files and O(environment) tell UCX (C(ucx)) and Open MPI (C(mca)),
    each with where that is said, and its RDMA C(devices).
  type: dict
  returned: with O(state=prepared)
busy:
  description: Whether it failed because another job runs, which must not be tidied up then.
  type: bool
  returned: failure
result:
  description: C(pass), C(fail) or C(unknown); the module fails on the last two.
  type: str
  returned: with O(state=finished)
why: {type: str, returned: with O(state=finished), description: The verdict in a sentence.}
cause:
  description:
    - Why the job did not go over RDMA though that is expected, as one word; empty where it did, or
      where nothing tells.
    - V(mpi.ucx_tls), V(mpi.ucx_net_devices), V(mpi.pml) and V(mpi.btl) are settings of that name;
      V(mpi.without_ucx) is an Open MPI without UCX, and V(mpi.no_rdma_transport) a UCX that finds
      no RDMA device. V(mpi.ud_unanswered) is a job over RDMA whose datagrams got no answer.
  type: str
  returned: with O(state=finished)
transports:
  description: What the hosts spoke to each other by.
  type: list
  elements: str
  returned: with O(state=finished)
  sample: [tcp (eth0) by ucx]
measured:
  description:
    - What the job measured, one entry a size. Empty unless the script gives it seconds and sizes,
      C(smoke.py 5 8 1048576).
    - Microseconds are those of the slowest process, C(busbw) is GB/s as nccl-tests counts it.
  type: list
  elements: dict
  returned: with O(state=finished)
log: {type: str, returned: with O(state=finished), description: The output of the job.}
was_there: {type: bool, returned: with O(state=absent), description: Whether there was anything to tidy up.}
"""

import os
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between.smoke import _bindings, _program, job, settings, verdict
from ..module_utils._evidence.sources import Live
from ..module_utils._ground.command import Unavailable, run_by_name
from ..module_utils._ground.source import source_of
from ..module_utils._ground.text import ParseError
from ..module_utils._parse import mpi_bench, mpi_log

_TIMEOUT_MOST = 3600


def _act(given: dict[str, Any]) -> dict[str, Any]:
    state, user = given["state"], given["user"] or job.default_user(os.environ)
    more = job.checked(given["environment"])
    if state == "prepared":
        files = {**given["files"], "smoke.py": source_of(_program), "bindings.py": source_of(_bindings)}
        folder = job.prepare(run_by_name, files, user)
        reported = settings.look(run_by_name, Live("/"), folder, user, job.home_of(user), more)
        return {"changed": True, "mpirun": folder, "settings": reported}
    if state == "started":
        commands = job.start(run_by_name, user, given["peers"], given["timeout"], more)
        return {"changed": True, "commands": commands}
    if state == "joined":
        job.join(run_by_name, user, given["command"], given["timeout"], more)
        return {"changed": True}
    if state == "finished":
        return {"changed": False, **_judged(given)}
    there = job.remove(run_by_name)
    return {"changed": there, "was_there": there}


def _judged(given: dict[str, Any]) -> dict[str, Any]:
    ended = job.wait(run_by_name, given["timeout"])
    log = job.read_log()
    try:
        parsed = mpi_log.parse(log)
    except ParseError:
        parsed = mpi_log.MpiLog((), (), ())
    why_not = verdict.fallback(parsed, given["settings"])
    found = verdict.judge(
        parsed,
        given["ranks"],
        given["hosts"],
        rails=given["rails"],
        rails_why=given["rails_why"],
        simulated=given["simulated"],
        fallback=why_not,
    )
    if ended.running or ended.result != "success":
        how = "did not end" if ended.running else f"ended with {ended.result} {ended.status}"
        own = job.own_word(log)
        why = f"mpirun {how}: {own or (found.why if found.result == verdict.FAIL else job.last_line(log))}"
        cause = found.cause
        # A program that gave up before it called MPI says nothing of what MPI would have taken.
        begun = not own or parsed.layers or parsed.ucx
        wanted = begun and given["rails"] and not given["simulated"] and not parsed.between
        if why_not is not None and (parsed.unanswered or wanted):
            # Open MPI that may take UCX only does not start without a transport that it likes.
            why += f"; {why_not.cause}; next: {why_not.remedy}"
            cause = why_not.id
        found = verdict.Verdict(verdict.FAIL, why, found.transports, cause)
    return {
        "result": found.result,
        "why": found.why,
        "cause": found.cause,
        "transports": list(found.transports),
        "measured": _measured(log),
        "log": log,
    }


def _measured(log: str) -> list[dict[str, Any]]:
    try:
        sizes = mpi_bench.parse(log)
    except ParseError:
        return []
    return [{**asdict(siz), "busbw": round(siz.busbw, 4)} for siz in sizes]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {
                "choices": ["prepared", "started", "joined", "finished", "absent"],
                "required": True,
            },
            "files": {"type": "dict"},
            "peers": {"type": "list", "elements": "str", "default": []},
            "command": {"type": "str", "default": ""},
            "user": {"type": "str"},
            "timeout": {"type": "int", "default": 60},
            "ranks": {"type": "int"},
            "hosts": {"type": "int"},
            "rails": {"type": "bool", "default": False},
            "rails_why": {"type": "str", "default": ""},
            "simulated": {"type": "str", "default": ""},
            "settings": {"type": "dict", "default": {}},
            "environment": {"type": "dict", "default": {}},
        },
        required_if=[("state", "prepared", ["files"]), ("state", "finished", ["ranks", "hosts"])],
        supports_check_mode=True,
    )
    if not 1 <= module.params["timeout"] <= _TIMEOUT_MOST:
        module.fail_json(msg=f"timeout must be from 1 to {_TIMEOUT_MOST} seconds")
    if module.check_mode:
        module.exit_json(changed=False, skipped=True, msg="nothing is run in check mode")
    try:
        result = _act(module.params)
    except (job.SmokeError, Unavailable, OSError) as exc:
        module.fail_json(msg=f"smoke job: {exc}", busy=isinstance(exc, job.Busy))
    if result.get("result") in (verdict.FAIL, verdict.UNKNOWN):
        module.fail_json(msg=f"smoke job: {result['why']}", **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
