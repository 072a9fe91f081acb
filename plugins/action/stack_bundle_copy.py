# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of stack_bundle_copy: what the host lacks, in few round trips."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import check, layout
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction, ask_host

_MODULE = "stack_bundle_copy"
_ARCHIVE = "small.tar"
# Larger files go by themselves, without a copy on the controller.
_SMALL = 16 * 2**20
_SPARE = 300 * 2**20


class ActionModule(SiteAction):
    """Ask the host what it lacks, carry that to its temporary folder, have it put in place."""

    _requires_connection = True
    SPEC: ClassVar[dict[str, Any]] = {
        "directory": {"type": "path", "required": True},
        "class_name": {"type": "str", "required": True},
        "key": {"type": "str", "required": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        host = variables.get("inventory_hostname")
        try:
            return self._copy(Path(args["directory"]), args, variables)
        except (layout.BundleError, AnsibleError, OSError) as exc:
            raise AnsibleActionFail(f"{host}: the bundle was not copied: {exc}") from exc

    def _copy(self, home: Path, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        promised = check.signed_sums(home, layout.fingerprint(args["key"]))
        prefix = f"{args['class_name']}/"
        sums = {name: entry for name, entry in promised.items() if name.startswith(prefix)}
        if not sums:
            raise layout.BundleError(
                f"{home} has nothing for {args['class_name']}; next: make the bundle on an "
                "inventory that has such a host"
            )
        asked = {**args, "sums": sums}
        reported = ask_host(self, _MODULE, asked, variables)
        missing = _missing(reported.get("missing"), sums)
        if not missing or self._task.check_mode:
            return {"changed": bool(missing), "missing": missing}
        need = sum((home / name).stat().st_size for name in missing)
        free = reported.get("free")
        if not isinstance(free, int) or isinstance(free, bool):
            raise layout.BundleError(f"it says not how much room it has: {str(free)[:80]!r}")
        if free < 2 * need + _SPARE:
            raise AnsibleActionFail(
                f"no room: {free // 2**20} MiB are free below /var/lib, and "
                f"{(2 * need + _SPARE) // 2**20} MiB are needed. Nothing was changed. Next: free "
                "some space there, or have the nodes read the bundle from a server (stack_bundle)"
            )
        remote = self._make_tmp_path()
        try:
            self._put(home, missing, remote)
            ask_host(self, _MODULE, {**asked, "placed": remote}, variables)
        finally:
            self._remove_tmp_path(remote, force=True)
        return {"changed": True, "missing": missing}

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


def _missing(told: Any, sums: Mapping[str, str]) -> list[str]:
    """The files that the host lacks, of those that it was told of: it reads no other of ours."""
    if not isinstance(told, list):
        raise layout.BundleError("it says not which files it lacks; next: look at its Python")
    strange = [str(name) for name in told if not isinstance(name, str) or name not in sums]
    if strange:
        raise layout.BundleError(
            f"it asks for {strange[0][:200]!r}, which is no file of the bundle. Nothing was sent. "
            "Next: ibready asks for none such: look at the host's Python and at who is root there"
        )
    return [str(name) for name in told]


def _flat(name: str) -> str:
    return name.replace("/", "!")
