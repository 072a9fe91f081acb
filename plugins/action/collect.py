# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module collect: what the inventory expects goes into the bundle, and that comes home,
into the folder of its host's name or nowhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.loader import action_loader

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import remote, unpack
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import trust
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction


class ActionModule(VerifyAction):
    """Pass everything on, with the expectations that a verify of the host goes by, and fetch what came of it."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        home, variables = self._task.args.get("home"), task_vars or {}
        if home:
            trust.demand()
        result = super().run(tmp, variables)
        if home and not self._task.check_mode and not result.get("failed"):
            host = str(self._task.args.get("host") or variables.get("inventory_hostname"))
            result["home"] = self._bring(result.get("archive"), home, host, variables)
        return result

    def arguments(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The module's arguments; it judges nothing, so that waivers and the like are none of it."""
        expect = self.expected(args.get("expect"), variables)
        try:
            expect = self.with_lock(expect, variables)
        except AnsibleActionFail as exc:
            # Evidence is wanted most where something is broken.
            self._display.warning(f"{exc} The bundle carries nothing of the lock.")
        if args.pop("home", None) and not args.get("host"):
            args["host"] = variables.get("inventory_hostname")
        return {**args, "expect": expect}

    def _bring(self, told: Any, home: str, host: str, variables: dict[str, Any]) -> str:
        """The folder of the bundle on the controller."""
        folder = Path(home).expanduser().absolute()
        try:
            source = remote.path(told)
            unpack.check_name(host)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".ibready-", dir=folder) as place:
                archive = Path(place) / f"{host}{unpack.ENDING}"
                self._fetch(source, archive, variables)
                return str(unpack.replace(archive, folder, host))
        except (remote.RemoteError, unpack.UnpackError) as exc:
            raise AnsibleActionFail(
                f"the bundle of {host} was not unpacked: {exc}; next: do not trust this "
                "host before you know who made the archive, then run collect.yml again"
            ) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle of {host} was not unpacked: {exc}; next: make room in {home}, or set ibready_bundle_dir"
            ) from exc

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
