#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bench_jobs
short_description: Tell whether a job runs on this host now
version_added: 0.2.0
description:
  - Names the programs that have an RDMA device open (daemons of the stack left out), and those that
    compute on a GPU. A benchmark would disturb them and be disturbed.
  - Changes nothing.
options:
  root:
    description: The directory that is the host's C(/) for files. Tests point it elsewhere.
    type: path
    default: /
extends_documentation_fragment:
  - ibready.cluster.look
"""

EXAMPLES = r"""
- name: See whether a job runs
  ibready.cluster.bench_jobs:
  register: jobs
"""

RETURN = r"""
jobs:
  description: What runs, one sentence each.
  type: list
  elements: str
  returned: success
  sample: ["python3[4711] computes on a GPU"]
unknown:
  description: Why it may be more than that; empty where everything could be looked at.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils._bench import jobs
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live


def _run(argv: list[str], timeout: float) -> Output:
    return run_program(argv[0], argv, timeout)


def main() -> None:
    module = AnsibleModule(
        argument_spec={"root": {"type": "path", "default": "/"}}, supports_check_mode=True
    )
    root = module.params["root"]
    found = jobs.look(Live(root), root, _run)
    module.exit_json(changed=False, jobs=list(found.jobs), unknown=list(found.unknown))


if __name__ == "__main__":
    main()
