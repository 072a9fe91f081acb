#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: run_lease
short_description: Take a host for one run, so that no two runs change it at a time
version_added: 0.1.0
description:
  - Keeps on the host who is at work there, since when and until when, in
    C(/var/lib/ibready/lease/changes.json), which only root can read and which survives a reboot.
  - A run is an C(ansible-playbook) with all that it does. It may take again what it has, and then
    has it longer.
  - A host is taken over at once from a run of the same controller whose process has ended, and
    from any other run when its time is up.
options:
  state:
    description:
      - With V(taken), the host is taken for this run; that fails where another run has it.
      - With V(given), this run has the host no more. What another run has stays.
    type: str
    choices: [taken, given]
    required: true
  hours:
    description: How long the host is this run's, unless it is given back before; at least 1.
    type: int
    default: 12
  take_over:
    description:
      - Consent to take the host from whoever has it, for somebody who knows that nobody is at work
        there any more.
    type: bool
    default: false
  host:
    description: The host's name in messages.
    type: str
extends_documentation_fragment: [ibready.cluster.run, ibready.cluster.no_diff]
attributes:
  check_mode:
    description: Takes and gives nothing; warns where another run has the host.
    support: full
notes:
  - C(playbooks/converge.yml) and C(playbooks/rollback.yml) take every host before they change the
    first.
"""

EXAMPLES = r"""
- name: Take the host for this run
  ibready.cluster.run_lease:
    state: taken

- name: Give it back
  ibready.cluster.run_lease:
    state: given
"""

RETURN = r"""
taken:
  description: Whether the host is this run's now; false in check mode.
  type: bool
  returned: with O(state=taken)
holder:
  description: The other run that has the host; not there where none has.
  type: dict
  returned: with O(state=taken), where another run has the host
  contains:
    run: {type: str, description: What tells it from all others.}
    who: {type: str, sample: root@controller (process 4242), description: Who runs it.}
    what: {type: str, sample: site.yml, description: What is run.}
    since: {type: str, sample: "2025-11-23 11:41:05+00:00", description: "When it took the host, by the host's clock."}
    until: {type: str, description: "When its time is up, by the host's clock."}
"""

import socket
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._between import lease
from ..module_utils._ground.state import StateError


def _act(module: AnsibleModule, name: str) -> dict[str, Any]:
    given, path = module.params, lease.CHANGES
    if given["state"] == "given":
        there = False if module.check_mode else lease.give(path, given["run"])
        return {"changed": there}
    if module.check_mode:
        held = lease.other(path, given["run"])
        if held:
            module.warn(f"{name}: {held.told()}")
        return {"changed": False, "taken": False}
    lease.have(path, given, given["hours"] * 3600, force=given["take_over"])
    return {"changed": True, "taken": True}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["taken", "given"], "required": True},
            "hours": {"type": "int", "default": 12},
            "take_over": {"type": "bool", "default": False},
            "host": {"type": "str"},
            **lease.OPTIONS,
        },
        supports_check_mode=True,
    )
    name = module.params["host"] or socket.gethostname()
    if module.params["hours"] < 1:
        module.fail_json(msg=f"{name}: hours must be at least 1, not {module.params['hours']}")
    if not module.params["run"]:
        module.fail_json(msg=f"{name}: nobody said which run this is. Next: use the action plugin")
    try:
        result = _act(module, name)
    except lease.Busy as exc:
        module.fail_json(
            msg=f"{name}: {exc}. Next: let it end and run this again; where it is known to be "
            "dead, take over with -e ibready_take_over=true",
            taken=False,
            holder=asdict(exc.lease),
        )
    except StateError as exc:
        module.fail_json(msg=f"{name}: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
