#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: module_blacklist
short_description: Keep kernel modules of a site's choice from being loaded
version_added: 0.1.0
description:
  - Writes C(/etc/modprobe.d/ibready-blacklist.conf), so that these modules are loaded neither by
    themselves nor by another module, and has the initramfs made again, which carries a copy.
  - Refuses modules that the RDMA stack or NVIDIA's driver need.
  - Unloads nothing; RV(loaded) says what stays until the next boot.
options:
  names:
    description: The modules. An empty list removes the file.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
notes:
  - An initramfs that could not be made again is remembered, and made by the next run.
  - In a container, and where neither C(update-initramfs) nor C(dracut) is installed, the file is
    written and RV(why_not) says why no initramfs was made.
"""

EXAMPLES = r"""
- name: Keep out a module that grabs the board's management controller
  ibready.cluster.module_blacklist:
    names: [ast, cdc_ether]
"""

RETURN = r"""
names: {type: list, elements: str, returned: success, description: The modules that are kept out.}
loaded: {type: list, elements: str, returned: success, description: Those that the running kernel still has.}
initramfs:
  description: Whether the initramfs was made again, or would be in check mode.
  type: bool
  returned: success
why_not: {type: str, returned: success, description: "Why no initramfs was made, though the file changed."}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.tuning import blacklist
from ..module_utils._areas.machine import kind
from ..module_utils._evidence.sources import Live
from ..module_utils._ground import state
from ..module_utils._ground.command import Unavailable, find_program, run_program

_SUBJECT = "initramfs"
_TOOLS = (
    ("update-initramfs", "-u", "-k", "all"),
    ("dracut", "--regenerate-all", "--force"),
)
# Each installed kernel takes some ten seconds.
_LIMIT_S = 900.0


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    names = blacklist.checked(module.params["names"])
    path = state.below(root, blacklist.PATH)
    before, after = state.read(path), blacklist.render(names)
    late = bool(state.load(_SUBJECT, root))
    argv, why_not = _tool(root)
    remake = bool(argv) and (before != after or late)
    result: dict[str, Any] = {
        "changed": before != after or remake,
        "names": list(names),
        "loaded": _loaded(names, root),
        "initramfs": remake,
        "why_not": why_not if before != after else "",
        "diff": [state.diff(path, before, after)],
    }
    if module.check_mode:
        return result
    if remake:
        state.save(_SUBJECT, {"because": blacklist.PATH}, root)
    if before != after:
        state.write(path, after, 0o644)
    if remake:
        _make(argv)
        state.save(_SUBJECT, {}, root)
    return result


def _tool(root: str) -> tuple[list[str], str]:
    container = kind.container(Live(root))
    if container:
        return [], f"inside a container ({container}), which has no initramfs"
    for program, *words in _TOOLS:
        try:
            return [find_program(program), *words], ""
        except Unavailable:
            continue
    return [], "neither update-initramfs nor dracut is installed"


def _make(argv: list[str]) -> None:
    shown = " ".join(argv)
    try:
        done = run_program(argv[0], argv, _LIMIT_S)
    except Unavailable as exc:
        raise blacklist.BlacklistError(f"{exc}. Next: run `{shown}` by hand") from exc
    if done.rc != 0:
        said = (done.stderr or done.stdout).strip().split("\n")[-1]
        raise blacklist.BlacklistError(
            f"`{shown}` ended with status {done.rc}: {said or 'no word'}. Next: fix that (often "
            "/boot is full) and run this again"
        )


def _loaded(names: tuple[str, ...], root: str) -> list[str]:
    text = state.read(state.below(root, "/proc/modules"))
    return blacklist.still_loaded(names, [line.split(" ")[0] for line in text.split("\n")])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        result = _keep(module)
    except (blacklist.BlacklistError, state.StateError, OSError) as exc:
        module.fail_json(msg=f"Kernel modules to keep out: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
