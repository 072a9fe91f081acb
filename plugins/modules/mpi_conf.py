#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: mpi_conf
short_description: Have Open MPI and UCX use the rails and the network of the other nodes
version_added: 0.1.0
description:
  - Asks the installed Open MPI and UCX what they are and what they reach, and writes a block into
    C(openmpi-mca-params.conf), C(prte-mca-params.conf) (Open MPI 5) and C(/etc/ucx/ucx.conf).
  - What it writes, and from what, tells docs/mpi.md.
  - Lines of the site stay, and what they set is left out of the block.
  - Both are asked what they took, after a change and where nothing had to change.
options:
  state:
    description: With V(absent), the blocks are taken away.
    type: str
    choices: [present, absent]
    default: present
  host:
    description: What M(ibready.cluster.nccl_host) returned as C(nccl_host).
    type: dict
  wish:
    description: What M(ibready.cluster.nccl_host) returned as C(wish).
    type: dict
  home:
    description: The directory of an Open MPI outside of the search path, as of HPC-X.
    type: path
  mca:
    description: More parameters of Open MPI, or other values.
    type: dict
    default: {}
  ucx:
    description: More variables of UCX, or other values.
    type: dict
    default: {}
  ucx_conf:
    description: UCX's file.
    type: path
    default: /etc/ucx/ucx.conf
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
notes:
  - Running jobs keep what they have; the environment of a job goes before these files.
"""

EXAMPLES = r"""
- name: Look at the host
  ibready.cluster.nccl_host:
  register: seen

- name: Have Open MPI use its rails
  ibready.cluster.mpi_conf:
    host: "{{ seen.nccl_host }}"
    wish: "{{ seen.wish }}"
"""

RETURN = r"""
installed: {type: bool, returned: success, description: Whether an Open MPI was found.}
release: {type: str, returned: success, sample: 5.0.7, description: "Open MPI's release, empty where there is none."}
settings:
  description: What is written, by file.
  type: dict
  returned: success
  sample: {"/etc/ucx/ucx.conf": {"UCX_NET_DEVICES": "mlx5_0:1"}}
kept:
  description: Settings that lines of the site's own make, so that ours were left out.
  type: list
  elements: str
  returned: success
untold: {type: list, elements: str, returned: success, description: "What was not written, and why."}
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.mpi import ask, derive
from ..module_utils._data import mpi
from ..module_utils._expect import nccl as wishes
from ..module_utils._ground import state, warn
from ..module_utils._ground.keyvalue import ConfError
from ..module_utils._nccl import derive_rails, host as hosts

_MODE = 0o644


def _derived(given: dict[str, Any], installed: ask.Installed) -> derive.Derived:
    if given["host"] is None:
        raise ConfError("host is missing. Next: give what ibready.cluster.nccl_host returned")
    try:
        host, desired = hosts.from_dict(given["host"]), _wish(given["wish"])
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ConfError(f"host or wish is not what nccl_host returned: {exc!r}") from exc
    socket, why = derive.interface(host, desired.policy)
    return derive.derive(
        installed.ompi,
        installed.ucx,
        derive_rails.rails(host, desired.policy),
        socket,
        derive.Site(_texts(given["mca"], ("0", "1")), _texts(given["ucx"], ("n", "y"))),
        [why] if why else [],
    )


def _wish(given: dict[str, Any] | None) -> wishes.Desired:
    return wishes.Desired() if given is None else wishes.from_dict(given)


def _texts(given: dict[str, Any], words: tuple[str, str]) -> dict[str, str]:
    """``words``: false and true as the tool itself shows them."""
    return {name: words[entry] if isinstance(entry, bool) else str(entry) for name, entry in given.items()}


def _write(module: AnsibleModule, path: str, before: str, after: str) -> dict[str, str]:
    if not module.check_mode:
        state.write(path, after, _MODE)
    return state.diff(path, before, after)


def _prove(given: dict[str, Any], installed: ask.Installed | None, found: derive.Derived, kept: list[str]) -> None:
    """AskError where Open MPI and UCX took something else; ``installed``: as the files are now."""
    wanted = {line.name: line.value for line in found.mca if line.name not in kept}
    if installed is not None and wanted.get("pml") == "ucx" and not installed.ompi.takes_ucx:
        raise ask.AskError(
            f"pml=ucx is written, and Open MPI takes {installed.ompi.pml!r} from"
            f" {installed.ompi.source}. Next: take that line out"
        )
    for line in found.ucx:
        taken = "" if line.name in kept else ask.ucx_value(line.name)
        # An Open MPI of the vendor's may come without ucx_info.
        if taken and taken != line.value:
            raise ask.AskError(
                f"{line.name}={line.value} is written into {given['ucx_conf']}, and UCX takes"
                f" {taken!r}. Next: see whether this UCX reads another file (UCX_CONFIG_DIR)"
            )


def _apply(module: AnsibleModule) -> dict[str, Any]:
    given = module.params
    installed = ask.installed(given["home"])
    found = derive.Derived()
    if given["state"] == "present" and installed is not None:
        found = _derived(given, installed)
    folder = installed.conf_dir if installed else mpi.CONF_DIR
    wanted = {
        os.path.join(folder, mpi.MCA_FILE): found.mca,
        os.path.join(folder, mpi.PRTE_FILE): found.prte,
        given["ucx_conf"]: found.ucx,
    }
    kept: list[str] = []
    diffs = []
    for path, lines in wanted.items():
        if given["state"] == "present" and installed is None:
            break
        before = state.read(path)
        try:
            merged = derive.merge(before, lines, mpi.DISTRIBUTION_LINES)
        except ConfError as exc:
            raise ConfError(f"{path}: {exc}") from exc
        kept += merged.kept
        if merged.text != before:
            diffs.append(_write(module, path, before, merged.text))
    if given["state"] == "present" and not (diffs and module.check_mode):
        # Also where nothing changed: a run that failed here before has written the files.
        _prove(given, ask.installed(given["home"]) if diffs else installed, found, kept)
    for why in found.untold:
        warn.of_host(module, why)
    return {
        "changed": bool(diffs),
        "diff": diffs,
        "installed": installed is not None,
        "release": installed.ompi.release if installed else "",
        "settings": {
            path: {line.name: line.value for line in lines if line.name not in kept}
            for path, lines in wanted.items()
            if lines
        },
        "kept": kept,
        "untold": list(found.untold),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "host": {"type": "dict"},
            "wish": {"type": "dict"},
            "home": {"type": "path"},
            "mca": {"type": "dict", "default": {}},
            "ucx": {"type": "dict", "default": {}},
            "ucx_conf": {"type": "path", "default": mpi.UCX_FILE},
        },
        supports_check_mode=True,
    )
    try:
        result = _apply(module)
    except (ask.AskError, ConfError) as exc:
        module.fail_json(msg=f"Open MPI: {exc}")
    except OSError as exc:
        module.fail_json(msg=f"Open MPI: {exc.filename} cannot be written: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
