# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of stack_bundle_copy: what the host lacks, in few round trips."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import check, layout

_MODULE = "ibready.cluster.stack_bundle_copy"
_ARCHIVE = "small.tar"
# Larger files go by themselves, without a copy on the controller.
_SMALL = 16 * 2**20
_SPARE = 300 * 2**20


class ActionModule(ActionBase):
    """Ask the host what it lacks, carry that to its temporary folder, have it put in place."""

    _VALID_ARGS = frozenset(("directory", "class_name", "key"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "directory": {"type": "path", "required": True},
                "class_name": {"type": "str", "required": True},
                "key": {"type": "str", "required": True},
            }
        )
        host = (task_vars or {}).get("inventory_hostname")
        try:
            result.update(self._copy(Path(args["directory"]), args, task_vars or {}))
        except (layout.BundleError, AnsibleError, OSError) as exc:
            raise AnsibleActionFail(f"{host}: the bundle was not copied: {exc}") from exc
        return result

    def _copy(self, home: Path, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        promised = check.signed_sums(home, layout.fingerprint(args["key"]))
        prefix = f"{args['class_name']}/"
        sums = {name: one for name, one in promised.items() if name.startswith(prefix)}
        if not sums or layout.KEY not in promised:
            raise layout.BundleError(
                f"{home} has nothing for {args['class_name']}; next: make the bundle on an "
                "inventory that has such a host"
            )
        sums[layout.KEY] = promised[layout.KEY]
        asked = {**args, "sums": sums}
        told = self._node(asked, variables)
        missing = [str(name) for name in told["missing"]]
        if not missing or self._task.check_mode:
            return {"changed": bool(missing), "missing": missing}
        need = sum((home / name).stat().st_size for name in missing)
        if told["free"] < 2 * need + _SPARE:
            raise AnsibleActionFail(
                f"no room: {told['free'] // 2**20} MiB are free below /var/lib, and "
                f"{(2 * need + _SPARE) // 2**20} MiB are needed. Nothing was changed. Next: free "
                "some space there, or have the nodes read the bundle from a server (stack_bundle)"
            )
        remote = self._make_tmp_path()
        try:
            self._put(home, missing, remote)
            self._node({**asked, "placed": remote}, variables)
        finally:
            self._remove_tmp_path(remote, force=True)
        return {"changed": True, "missing": missing}

    def _node(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = self._execute_module(
            module_name=_MODULE, module_args=args, task_vars=variables
        )
        if done.get("failed"):
            raise AnsibleActionFail(str(done.get("msg")), result=done)
        return done

    def _put(self, home: Path, names: list[str], remote: str) -> None:
        small = [name for name in names if (home / name).stat().st_size < _SMALL]
        with tempfile.NamedTemporaryFile(prefix="ibready-", suffix=".tar") as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name in small:
                    archive.add(home / name, arcname=_flat(name))
            file.flush()
            self._connection.put_file(file.name, f"{remote}/{_ARCHIVE}")
        for name in names:
            if name not in small:
                self._connection.put_file(str(home / name), f"{remote}/{_flat(name)}")


def _flat(name: str) -> str:
    return name.replace("/", "!")
