#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: units
short_description: Have units of systemd run or not, now and at boot, in one visit
version_added: 0.1.0
description:
  - Asks systemd for all units at once, and acts on those that are not as asked, in their order.
  - A unit that is running is left alone; nothing is restarted.
  - A masked unit that should start is a failure, in check mode too; nothing unmasks it.
options:
  names:
    description: The units, with or without C(.service).
    type: list
    elements: str
    required: true
  enabled:
    description: Whether they are started at boot. Left out, that stays as it is.
    type: bool
  running:
    description: Whether they run now. Left out, that stays as it is.
    type: bool
  if_there:
    description:
      - Whether a unit that does not exist is passed over; otherwise it is a failure. In check mode
        it is passed over, for its package may still be to come.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows what units would do.
    support: full
"""

EXAMPLES = r"""
- name: Have the fabric manager run
  ibready.cluster.units:
    names: [nvidia-fabricmanager]
    enabled: true
    running: true

- name: Keep ibacm from running
  ibready.cluster.units:
    names: [ibacm.socket, ibacm.service]
    enabled: false
    running: false
    if_there: true
"""

RETURN = r"""
acts:
  description: What was done, or would be in check mode, as words of C(systemctl).
  type: list
  elements: str
  returned: success
  sample: [enable nvidia-fabricmanager.service, start nvidia-fabricmanager.service]
absent: {type: list, elements: str, returned: success, description: The units that do not exist.}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._ground import units as _units
from ..module_utils._ground.command import Unavailable, run_by_name
from ..module_utils._ground.state import diff

# A fabric manager takes half a minute.
_LIMIT_S = 300.0


def _run(words: list[str]) -> str:
    done = run_by_name(["systemctl", *words], _LIMIT_S)
    if done.rc != 0:
        raise Unavailable("systemctl", f"{' '.join(words)}: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "enabled": {"type": "bool"},
            "running": {"type": "bool"},
            "if_there": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    given, acts = module.params, []
    try:
        told = _units.told(given["names"], _run)
        absent = [name for name, state in told.items() if not state.there]
        if absent and not (given["if_there"] or module.check_mode):
            module.fail_json(
                msg=f"systemd knows no {', '.join(absent)}. Next: see whether the packages with them are installed"
            )
        acts = _acts(told, given["enabled"], given["running"])
        for act in acts if not module.check_mode else ():
            _run(act.split(" "))
    except _units.Masked as exc:
        module.fail_json(msg=str(exc))
    except Unavailable as exc:
        module.fail_json(msg=f"units {', '.join(given['names'])}: {exc}. Next: see `systemctl status`")
    wanted = "".join(f"{act}\n" for act in acts)
    module.exit_json(changed=bool(acts), acts=acts, absent=absent, diff=[diff("units", "", wanted)] if acts else [])


def _acts(told: dict[str, _units.State], enabled: bool | None, running: bool | None) -> list[str]:
    """In the units' order, systemd reading its files once."""
    found = [act for name, state in told.items() if state.there for act in state.acts(name, enabled, running)]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    main()
