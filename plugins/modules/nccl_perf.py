#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_perf
short_description: Measure NCCL's all-reduce with nccl-tests
version_added: 0.1.0
description:
  - Runs C(all_reduce_perf) between the GPUs of one host, or reads what it printed as the job that
    M(ibready.cluster.mpi_smoke) started on several.
  - On one host it is the transient systemd unit C(ibready-nccl-tests.service), which ends after
    O(timeout) whatever becomes of the controller.
  - A measurement that did not happen is an answer with its reason, not a failure of the module.
options:
  state:
    description:
      - With V(alone), measure between the GPUs of this host.
      - With V(found), only tell where the program is.
      - With V(finished), wait for the job of M(ibready.cluster.mpi_smoke) on its first host.
    type: str
    choices: [alone, found, finished]
    default: alone
  program:
    description:
      - Its path, where it is not C(all_reduce_perf) in PATH or where nccl-tests usually is.
    type: str
    default: ""
  gpus:
    description: Between how many GPUs. Needed with O(state=alone).
    type: int
  begin:
    description: The smallest message, as nccl-tests takes it.
    type: str
    default: 8M
  end:
    description: The largest message.
    type: str
    default: 8G
  timeout:
    description: Seconds after which it is ended.
    type: int
    default: 120
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Measures nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Measure between the eight GPUs of this host
  ibready.cluster.nccl_perf:
    gpus: 8
    timeout: 90
  register: measured
"""

RETURN = r"""
program: {type: str, returned: with O(state=found), description: Where the program is; empty where it is not.}
untested: {type: str, returned: always, description: Why there are no numbers; empty where there are.}
busbw: {type: float, returned: when RV(untested) is empty, description: "The largest bus bandwidth of any size, GB/s."}
average:
  description: The mean bus bandwidth as the program prints it, GB/s.
  type: float
  returned: when RV(untested) is empty
wrong:
  description: How many values were wrong, null where the program did not check.
  type: float
  returned: when RV(untested) is empty
ranks: {type: int, returned: when RV(untested) is empty, description: How many GPUs took part.}
hosts: {type: int, returned: when RV(untested) is empty, description: On how many hosts.}
rows:
  description: Every size, with C(time_us), C(algbw), C(busbw) and C(wrong) of both kinds.
  type: list
  elements: dict
  returned: when RV(untested) is empty
log: {type: str, returned: with O(state=finished), description: The output of the job.}
"""

import re
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between.bench import nccl
from ..module_utils._between.smoke import job
from ..module_utils._ground import unit
from ..module_utils._ground.command import Unavailable, run_by_name

_TIMEOUT_MOST = 3600
_GPUS_MOST = 64
_SIZE = re.compile(r"[0-9]{1,12}[KMG]?")


def _act(given: dict[str, Any]) -> dict[str, Any]:
    if given["state"] == "finished":
        ended = job.wait(run_by_name, given["timeout"])
        log = job.read_log()
        answer = nccl.told(log)
        if ended.running or ended.result != "success":
            how = "did not end" if ended.running else f"ended with {ended.result} {ended.status}"
            if answer["untested"] or not answer.get("wrong"):
                answer = {"untested": f"mpirun {how}: {job.last_line(log)}"}
        return {**answer, "log": log}
    try:
        path = nccl.program(given["program"])
    except Unavailable as exc:
        return {"untested": str(exc), **({"program": ""} if given["state"] == "found" else {})}
    if given["state"] == "found":
        return {"untested": "", "program": path}
    return nccl.alone(run_by_name, path, given["gpus"], (given["begin"], given["end"]), given["timeout"])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["alone", "found", "finished"], "default": "alone"},
            "program": {"type": "str", "default": ""},
            "gpus": {"type": "int"},
            "begin": {"type": "str", "default": "8M"},
            "end": {"type": "str", "default": "8G"},
            "timeout": {"type": "int", "default": 120},
        },
        required_if=[("state", "alone", ["gpus"])],
        supports_check_mode=True,
    )
    given = module.params
    if not 1 <= given["timeout"] <= _TIMEOUT_MOST:
        module.fail_json(msg=f"nccl_perf: timeout must be from 1 to {_TIMEOUT_MOST} seconds")
    if given["state"] == "alone" and not 1 <= given["gpus"] <= _GPUS_MOST:
        module.fail_json(msg=f"nccl_perf: gpus must be from 1 to {_GPUS_MOST}")
    for name in ("begin", "end"):
        if not _SIZE.fullmatch(given[name]):
            module.fail_json(msg=f"nccl_perf: {name}: {given[name]!r} is no size such as 8M")
    if module.check_mode and given["state"] != "found":
        module.exit_json(changed=False, skipped=True, untested="nothing is run in check mode")
    try:
        result = _act(given)
    except (job.SmokeError, unit.UnitError, Unavailable, OSError) as exc:
        module.fail_json(msg=f"nccl_perf: {exc}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
