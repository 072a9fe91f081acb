#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: limits_look
short_description: See which limits this host grants
version_added: 0.1.0
description:
  - Has a process ask for each limit with C(prlimit), which shows whether this host grants it; a
    container may not.
options:
  limits:
    description: Names of limits as C(prlimit) has them, with the value asked for.
    type: dict
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See whether memory may be locked here
  ibready.cluster.limits_look:
    limits:
      memlock: unlimited
      nofile: 1048576
"""

RETURN = r"""
above:
  description: The numbers of open files asked for that no process may have here.
  type: list
  elements: str
  returned: success
  sample: []
nr_open:
  description: The kernel's ceiling for the open files of one process (C(fs.nr_open)).
  type: int
  returned: success
  sample: 1048576
granted:
  description: The limits that a process gets here.
  type: list
  elements: str
  returned: success
  sample: [nofile]
refused:
  description: The others, with what C(prlimit) said.
  type: dict
  returned: success
  sample: {"memlock": "prlimit: failed to set the MEMLOCK resource limit: Operation not permitted"}
"""

from ansible.module_utils.basic import AnsibleModule

_NR_OPEN = "/proc/sys/fs/nr_open"


def main() -> None:
    module = AnsibleModule(argument_spec={"limits": {"type": "dict", "required": True}}, supports_check_mode=True)
    program = module.get_bin_path("prlimit", required=True)
    granted, refused = [], {}
    for name, value in module.params["limits"].items():
        argv = [program, f"--{name}={value}:{value}", "true"]
        status, out, err = module.run_command(argv)
        if status not in (0, 1):
            module.fail_json(msg=f"{' '.join(argv)} ended with status {status}: {(err or out).strip()}")
        if status == 0:
            granted.append(name)
        else:
            refused[name] = err.strip()
    try:
        with open(_NR_OPEN, encoding="ascii") as stream:
            ceiling = int(stream.read())
    except (OSError, ValueError) as exc:
        module.fail_json(msg=f"{_NR_OPEN} cannot be read: {exc}")
    asked = str(module.params["limits"].get("nofile", ""))
    above = ["nofile"] if asked.isdigit() and int(asked) > ceiling else []
    module.exit_json(changed=False, above=above, nr_open=ceiling, granted=granted, refused=refused)


if __name__ == "__main__":
    main()
