# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the bundle that a host made to the controller: into the folder of its name, or nowhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.loader import action_loader

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import remote, unpack
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``collect_unpack``: there is nothing to do on a node."""

    _supports_check_mode = False
    _requires_connection = True
    SPEC: ClassVar[dict[str, Any]] = {
        "src": {"type": "str", "required": True},
        "dest": {"type": "path", "required": True},
        "host": {"type": "str", "required": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        host, folder = args["host"], Path(args["dest"]).absolute()
        try:
            source = remote.path(args["src"])
            unpack.check_name(host)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".ibready-", dir=folder) as place:
                archive = Path(place) / f"{host}{unpack.ENDING}"
                self._fetch(source, archive, variables)
                home = unpack.replace(archive, folder, host)
        except (remote.RemoteError, unpack.UnpackError) as exc:
            raise AnsibleActionFail(
                f"the bundle of {host} was not unpacked: {exc}; next: do not trust this "
                "host before you know who made the archive, then run collect.yml again"
            ) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle of {host} was not unpacked: {exc}; next: make room in "
                f"{args['dest']}, or set ibready_bundle_dir"
            ) from exc
        return {"changed": True, "path": str(home)}

    def _fetch(self, source: str, archive: Path, variables: dict[str, Any]) -> None:
        task = self._task.copy()
        task.args = {"src": source, "dest": str(archive), "flat": True}
        fetch = action_loader.get(
            "ansible.legacy.fetch",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        done = fetch.run(task_vars=variables)
        if done.get("failed"):
            raise AnsibleActionFail(f"{archive.name} was not fetched: {done.get('msg')}; next: run collect.yml again")
