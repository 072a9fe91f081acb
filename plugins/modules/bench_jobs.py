#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bench_jobs
short_description: Tell whether a job runs on this host now
version_added: 0.1.0
description:
  - Names the programs that have an RDMA device open (daemons of the stack left out), and those that
    compute on a GPU. A benchmark would disturb them and be disturbed.
  - Changes nothing.
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.root, ibready.cluster.inner]
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

from ..module_utils._between.bench import jobs
from ..module_utils._evidence.sources import Live
from ..module_utils._ground.command import run_by_name


def main() -> None:
    module = AnsibleModule(argument_spec={"root": {"type": "path", "default": "/"}}, supports_check_mode=True)
    root = module.params["root"]
    found = jobs.look(Live(root), root, run_by_name)
    module.exit_json(changed=False, jobs=list(found.jobs), unknown=list(found.unknown))


if __name__ == "__main__":
    main()
