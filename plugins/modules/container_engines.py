#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: container_engines
short_description: Give the containers of a host's engines the limits that training needs
version_added: 0.1.0
description:
  - Merges a few keys into the configuration that a site has for docker, containerd or podman, and
    raises the limits of the engine's service. All else in the file stays as it is, to the byte.
  - Which keys of which files these are, tells docs/containers.md.
  - The engine itself has to take the new file before the old one is touched. A file that is not
    valid is refused, with line and column, and left as it was.
  - The service is restarted only if something changed, and not while containers run, unless
    O(restart_ok) says so or docker keeps them alive (C(live-restore)). Where a reload is enough it
    is reloaded.
  - An engine that does not answer afterwards gets its old files back and is started again; then the
    module fails with what the engine said.
  - What is taken out of the options later is put back as it was before.
options:
  names:
    description: The engines. Those that are not on the host are passed by.
    type: list
    elements: str
    choices: [docker, containerd, podman]
    default: [containerd, docker, podman]
  memlock:
    description:
      - The most memory that a process may lock, V(unlimited) or a number of KiB. Empty leaves it.
    type: str
    default: unlimited
  nofile:
    description: The most files that a process may open. 0 leaves it.
    type: int
    default: 1048576
  shm_size:
    description: The size of C(/dev/shm), as V(16g) (docker and podman). Empty leaves it.
    type: str
    default: ""
  cdi:
    description: Whether the engine reads CDI specifications.
    type: bool
    default: true
  nvidia:
    description:
      - Whether docker knows NVIDIA's runtime. V(auto) is where C(nvidia-container-runtime) is on
        the host.
    type: str
    choices: ["yes", "no", auto]
    default: auto
  replace_ok:
    description:
      - Whether a value that the site's own file has may be replaced; C(ibready_replace_settings_ok).
        Otherwise it stays, and is in RV(engines.left).
    type: bool
    default: false
  restart_ok:
    description: Whether the service may be restarted while containers run.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  check_mode:
    description: Says what would change and changes nothing. A new file is tried out here, too.
    support: full
notes:
  - A restart that had to wait is remembered, and made by a run that may make it.
  - A value of the site that gives way (O(replace_ok)) is told as a warning, and its file is copied beforehand.
"""

EXAMPLES = r"""
- name: Let docker's containers lock memory and see devices by CDI
  ibready.cluster.container_engines:
    names: [docker]
    shm_size: 16g

- name: Take back what was set
  ibready.cluster.container_engines:
    memlock: ""
    nofile: 0
    cdi: false
    nvidia: "no"
"""

RETURN = r"""
engines:
  description: What was found and done, by the name of each engine that is on the host.
  type: dict
  returned: always
  contains:
    version: {type: str, sample: 26.1.5, description: The engine's version.}
    files:
      description: The files that were written or removed, or would be in check mode.
      type: list
      elements: str
    set: {type: list, elements: dict, description: "The keys that were set, with C(key), C(before) and C(after)."}
    overridden: {type: list, elements: dict, description: Those that had another value of the site.}
    left:
      description: What is wished and not done, with the reason.
      type: dict
      sample: {"cdi": "docker 24.0.7 has no CDI, which came with 25.0"}
    restarted: {type: bool, description: "Whether the service was restarted, or would be in check mode."}
    reloaded: {type: bool, description: Whether the service read its configuration again without a restart.}
    running:
      description: The containers that run while the service would have to be restarted.
      type: list
      elements: str
    waits: {type: str, description: "Why what changed is not yet in the running engine, empty where it is."}
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.container import ask, disk
from ..module_utils._act.container.apply import Keeper, Persisted
from ..module_utils._act.container.model import Desired, EngineError
from ..module_utils._data import container_engines as data
from ..module_utils._ground import state, warn
from ..module_utils._ground.command import is_there


def _wish(given: dict[str, Any]) -> Desired:
    memlock: int | None = None
    if given["memlock"] == "unlimited":
        memlock = -1
    elif given["memlock"]:
        if not given["memlock"].isdigit():
            raise EngineError(
                f"memlock {given['memlock']!r} is neither unlimited nor a number of KiB",
                "correct it in the inventory",
            )
        memlock = int(given["memlock"]) * 1024
    if given["nofile"] < 0:
        raise EngineError(f"nofile {given['nofile']} is no number of files", "correct it in the inventory")
    return Desired(
        memlock=memlock,
        nofile=given["nofile"] or None,
        shm_size=given["shm_size"],
        cdi=given["cdi"],
        replace=given["replace_ok"],
        nvidia=given["nvidia"] == "yes" or (given["nvidia"] == "auto" and is_there(data.NVIDIA_RUNTIME)),
    )


def _told(kept: Persisted) -> dict[str, Any]:
    changed = [plan for plan in kept.plans if plan.changed]
    return {
        "version": kept.version,
        "files": [entry.path for entry in changed],
        "set": [asdict(change) for entry in changed for change in entry.changes],
        "overridden": [asdict(change) for entry in changed for change in entry.overridden],
        "left": {key: why for plan in kept.plans for key, why in plan.left.items()},
        "restarted": kept.restarted,
        "reloaded": kept.reloaded,
        "running": kept.running,
        "waits": kept.waits,
    }


def _tell(module: AnsibleModule, name: str, kept: Persisted) -> None:
    for plan in kept.plans:
        for change in plan.overridden:
            warn.of_host(module, f"{name}: {change.key} was {change.before!r}, the site's, and is {change.after!r}")
    for note in kept.notes:
        warn.of_host(module, f"{name}: {note}")


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "names": {
                "type": "list",
                "elements": "str",
                "choices": list(data.ENGINES),
                "default": list(data.ENGINES),
            },
            "memlock": {"type": "str", "default": "unlimited"},
            "nofile": {"type": "int", "default": 1048576},
            "shm_size": {"type": "str", "default": ""},
            "cdi": {"type": "bool", "default": True},
            "nvidia": {"type": "str", "choices": ["yes", "no", "auto"], "default": "auto"},
            "replace_ok": {"type": "bool", "default": False},
            "restart_ok": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    given = module.params
    result: dict[str, Any] = {"changed": False, "engines": {}, "diff": []}
    name = ""
    try:
        desired = _wish(given)
        for name in [engine for engine in data.ENGINES if engine in given["names"]]:
            engine = data.TABLE[name]
            if not ask.there(engine):
                # The one that the site names is still to come.
                if given["names"] == [name]:
                    disk.legible(engine, given["root"])
                continue
            kept = Keeper(
                engine,
                desired,
                root=given["root"],
                check=module.check_mode,
                restart_ok=given["restart_ok"],
                backup=module.backup_local,
            ).keep()
            result["changed"] = result["changed"] or kept.changed
            result["engines"][name] = _told(kept)
            result["diff"] += [
                state.diff(plan.path, plan.before or "", plan.after or "") for plan in kept.plans if plan.changed
            ]
            _tell(module, name, kept)
    except (EngineError, state.StateError) as exc:
        module.fail_json(msg=f"{name}: {exc}" if name else str(exc), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
