#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_conf
short_description: Keep settings of NCCL in nccl.conf, in the form that NCCL reads as it is meant
version_added: 0.1.0
description:
  - Writes C(NAME=value) lines with the reason for each above it. NCCL knows no quotes, no blanks
    around the C(=), no C(export) and no comment behind a value, and never says so; none is written.
  - Every setting is judged first as NCCL would read it. One that NCCL would not read, or read as
    something else, is refused before anything changes, with what NCCL would make of it.
  - The file is replaced at once or not at all, belongs to root and has mode 0644.
options:
  path:
    description:
      - The file. C(/etc/nccl.conf) holds for every process of the host, C(~/.nccl.conf) of a user
        goes before it.
      - A symbolic link is refused.
    type: path
    default: /etc/nccl.conf
  settings:
    description:
      - The settings, in the order in which they are written.
      - Required when O(state=present). Without any, what this module wrote is taken away.
    type: list
    elements: dict
    suboptions:
      name: {type: str, required: true, description: The variable.}
      value:
        description: Its value. Write numbers and words as they are, without quotes inside.
        type: str
        required: true
      reason: {type: str, default: '', description: Why it is set. It becomes a comment above the setting.}
  exclusive:
    description:
      - With V(true) the whole file is this module's, and lines of others go.
      - With V(false) its lines stand in a block between two marks, and the lines of others are kept
        byte for byte. Those that set a variable of O(settings) go, and what O(drop) and O(repair)
        tell; they are in RV(replaced).
        Lines of others that do not do what they seem to do are kept and told as warnings.
    type: bool
    default: false
  keep:
    description:
      - Variables whose lines stay as they are where this module wrote them, and O(settings) has
        none; for what could not be told today.
    type: list
    elements: str
    default: []
  drop:
    description: Variables whose lines go, whoever wrote them.
    type: list
    elements: str
    default: []
  repair:
    description:
      - Lines of others that NCCL reads otherwise than they say go. They are in RV(replaced); see
        O(backup).
    type: bool
    default: false
  state:
    description:
      - With V(absent) what this module wrote is taken away, with O(exclusive=true) the file.
    type: str
    choices: [present, absent]
    default: present
  backup:
    description: Keep a copy of the file before a line of somebody else goes.
    type: bool
    default: false
  version:
    description:
      - The release of NCCL that is to read the file, such as V(2.23.4) or a package's
        V(2.23.4-1+cuda12.6). Without it a setting is judged for every known release.
    type: str
  known_names:
    description:
      - The variables that the installed library holds. A setting of any other of NCCL's is refused.
      - Add those of a network plugin, if it has some.
      - Without it the table of this collection decides, which knows NCCL up to 2.32.3.
    type: list
    elements: str
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
notes:
  - A process reads the file once, when it first uses NCCL. Running jobs keep what they have.
  - A variable in a job's environment goes before the file, even an empty one.
  - Containers have their own C(/etc/nccl.conf).
"""

EXAMPLES = r"""
- name: Use these HCAs and this interface
  ibready.cluster.nccl_conf:
    version: 2.23.4
    settings:
      - name: NCCL_IB_HCA
        value: =mlx5_0,mlx5_1
        reason: The compute rails. The storage HCA is left out.
      - name: NCCL_SOCKET_IFNAME
        value: =bond0

- name: Use these HCAs, and take away what NCCL does not read as it is meant
  ibready.cluster.nccl_conf:
    settings:
      - name: NCCL_IB_HCA
        value: =mlx5_0,mlx5_1
    drop: [NCCL_IB_DISABLE]
    repair: true
    backup: true

- name: Own the whole file
  ibready.cluster.nccl_conf:
    exclusive: true
    backup: true
    settings:
      - name: NCCL_DEBUG
        value: WARN

- name: Take away what was written
  ibready.cluster.nccl_conf:
    state: absent
"""

RETURN = r"""
path: {type: str, returned: success, description: The file.}
settings:
  description: What the file sets through this module, by name.
  type: dict
  returned: success
  sample: {"NCCL_IB_HCA": "=mlx5_0,mlx5_1"}
replaced:
  description: Lines of others that are gone; empty with O(exclusive=true).
  type: list
  elements: str
  returned: success
problems:
  description:
    - What may not be as it is meant, in O(settings) and in lines of others that stay.
  type: list
  elements: dict
  returned: success
  contains:
    line: {type: int, description: The line of the new file.}
    name: {type: str, description: The variable that was meant.}
    found: {type: str, description: What was found.}
    nccl_makes: {type: str, description: What NCCL makes of it.}
    next_step: {type: str, description: What to do.}
    severity: {type: str, description: Whether the line does something else (V(error)) or may do (V(warning)).}
    kind: {type: str, description: One word for the sort of problem.}
backup_file:
  description: The copy of the file as it was.
  type: str
  returned: when O(backup=true) and a line of somebody else is gone
"""

import os
from dataclasses import asdict, replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._data.nccl_reading import SYSTEM_FILE
from ..module_utils._ground import paths, state, warn
from ..module_utils._ground.command import Missing, Unavailable
from ..module_utils._ground.keyvalue import ConfError
from ..module_utils._ground.text import few, sendable
from ..module_utils._nccl import lint
from ..module_utils._nccl.conf import as_bytes, as_text, parse
from ..module_utils._nccl.derived import Setting
from ..module_utils._nccl.manage import Wanted, manage, render
from ..module_utils._nccl.problem import ERROR, Problem
from ..module_utils._nccl.release import NEWEST, Release, release

_MODE = 0o644
# Whatever is larger is no nccl.conf.
_LARGEST = 256 * 1024
_MOST_TOLD = 20


def _wanted(module: AnsibleModule) -> tuple[Setting, ...]:
    if module.params["state"] == "absent":
        return ()
    return tuple(Setting(**setting) for setting in module.params["settings"])


def _whole(module: AnsibleModule, settings: tuple[Setting, ...]) -> Wanted:
    if module.params["state"] == "absent":
        return Wanted(exclusive=module.params["exclusive"])
    return Wanted(
        settings,
        frozenset(module.params["keep"]),
        module.params["exclusive"],
        frozenset(module.params["drop"]),
        module.params["repair"],
    )


def _release(module: AnsibleModule) -> Release | None:
    text: str | None = module.params["version"]
    return None if text is None else release(text)


def _present(path: str) -> str | None:
    """The file's text, None where there is none."""
    if os.path.islink(path):
        raise ConfError(
            f"{path} is a symbolic link to {os.readlink(path)}. Next: give the path of the file"
            " itself, or remove the link"
        )
    try:
        data = paths.read_regular(path, path)
    except Missing:
        return None
    if len(data) > _LARGEST:
        raise ConfError(f"{path} has {len(data)} bytes: it is no nccl.conf. Next: look at what it is, and move it away")
    return as_text(data)


def _judged(settings: tuple[Setting, ...], version: Release | None, known: frozenset[str] | None) -> list[Problem]:
    """What may be wrong with the settings; raises ConfError for what is."""
    bare = render((Setting(setting.name, setting.value) for setting in settings), "")
    found = lint.problems(bare, version, known)
    wrong = [problem for problem in found if problem.severity == ERROR]
    if wrong:
        raise ConfError(few([_told(problem) for problem in wrong], _MOST_TOLD, "; "))
    return found


def _told(problem: Problem) -> str:
    return f"{problem.name}: {problem.found}: {problem.nccl_makes}. Next: {problem.next_step}"


def _apply(module: AnsibleModule) -> dict[str, Any]:
    path: str = module.params["path"]
    version, names = _release(module), module.params["known_names"]
    known = None if names is None else frozenset(names)
    wanted = _wanted(module)
    doubts = _judged(wanted, version, known)
    before = _present(path)
    new = manage(before or "", _whole(module, wanted), version, known)
    for doubt in doubts:
        module.warn(_told(doubt))
    for problem in new.foreign[:_MOST_TOLD]:
        warn.of_host(module, problem.told(path))
    if len(new.foreign) > _MOST_TOLD:
        warn.of_host(module, f"{path}: {len(new.foreign) - _MOST_TOLD} more of its lines; `problems` has all")
    gone = module.params["exclusive"] and before is not None and not new.text
    places = {line.name: line.number for line in parse(new.text, version or NEWEST)}
    result: dict[str, Any] = {
        "changed": (before or "") != new.text or gone,
        "path": path,
        "settings": {setting.name: setting.value for setting in wanted},
        "replaced": list(new.replaced),
        "problems": [
            *(asdict(replace(doubt, line=places[doubt.name])) for doubt in doubts),
            *(asdict(problem) for problem in new.foreign),
        ],
        "diff": [state.diff(path, _plain(before or ""), _plain(new.text))],
    }
    if result["changed"] and not module.check_mode:
        if module.params["backup"] and new.lost:
            result["backup_file"] = module.backup_local(path)
        state.write(path, new.text, _MODE)
    if new.text and (before is not None or not module.check_mode):
        result["changed"] = module.set_mode_if_different(path, _MODE, result["changed"])
        if os.geteuid() == 0:
            result["changed"] = module.set_owner_if_different(path, "root", result["changed"])
            result["changed"] = module.set_group_if_different(path, "root", result["changed"])
    return result


def _plain(text: str) -> str:
    """For people: bytes that are no text as question marks."""
    return as_bytes(text).decode("utf-8", "replace")


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": SYSTEM_FILE},
            "settings": {
                "type": "list",
                "elements": "dict",
                "options": {
                    "name": {"type": "str", "required": True},
                    "value": {"type": "str", "required": True},
                    "reason": {"type": "str", "default": ""},
                },
            },
            "exclusive": {"type": "bool", "default": False},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "backup": {"type": "bool", "default": False},
            "keep": {"type": "list", "elements": "str", "default": []},
            "drop": {"type": "list", "elements": "str", "default": []},
            "repair": {"type": "bool", "default": False},
            "version": {"type": "str"},
            "known_names": {"type": "list", "elements": "str"},
        },
        required_if=[("state", "present", ("settings",))],
        supports_check_mode=True,
    )
    path = module.params["path"]
    if not os.path.isabs(path):
        module.fail_json(msg=f"path {path!r} is not absolute")
    try:
        result = _apply(module)
    except Unavailable as exc:
        module.fail_json(msg=f"{exc}. Next: see what {path} is")
    except OSError as exc:
        module.fail_json(msg=f"cannot write {path}: {exc.strerror}. Next: see that it can be written")
    except ValueError as exc:
        # Of a setting, the file's marks or the version.
        module.fail_json(msg=f"{path}: {exc}")
    module.exit_json(**sendable(result))


if __name__ == "__main__":
    main()
