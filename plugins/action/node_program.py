# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of node_program: only here are the sources of the whole program."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import ask_host

_MODULE = "node_program"
_SOURCES = Path(__file__).resolve().parents[1] / "module_utils"


@cache
def packed() -> tuple[str, bytes]:
    """The digest of the sources, and an archive of them alone: the node compiles them."""
    files = pack.sources(str(_SOURCES))
    return pack.digest(files), pack.program(files, compiled=False)


class ActionModule(ActionBase):
    """Ask the host what it has; carry the sources only where that is something else."""

    _VALID_ARGS = frozenset(("path",))
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname")
        try:
            result.update(self._bring(dict(self._task.args), task_vars or {}))
        except (AnsibleError, OSError) as exc:
            raise AnsibleActionFail(f"{host}: the node program was not brought: {exc}") from exc
        return result

    def _bring(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        sources, archive = packed()
        asked = {**args, "sources": sources}
        reported = ask_host(self, _MODULE, asked, variables)
        if not reported["stale"] or self._task.check_mode:
            return reported
        remote = self._make_tmp_path()
        try:
            with tempfile.NamedTemporaryFile(prefix="ibready-", suffix=".zip") as file:
                file.write(archive)
                file.flush()
                self._connection.put_file(file.name, f"{remote}/sources.zip")
            return ask_host(self, _MODULE, {**asked, "placed": f"{remote}/sources.zip"}, variables)
        finally:
            self._remove_tmp_path(remote, force=True)
