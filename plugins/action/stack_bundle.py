# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the package files of one class from a host that reaches the repositories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import base, layout, sums

_NODE = "ibready.cluster.stack_bundle_files"


class ActionModule(ActionBase):
    """Ask the host which files, and carry those to the controller that are not there yet."""

    _VALID_ARGS = frozenset(("directory", "class_name", "digest", "install", "more", "had"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "directory": {"type": "path", "required": True},
                "class_name": {"type": "str", "required": True},
                "digest": {"type": "str", "required": True},
                "install": {"type": "dict", "required": True},
                "more": {"type": "dict", "default": {}},
                "had": {"type": "dict", "required": True},
            }
        )
        self._host = str((task_vars or {}).get("inventory_hostname"))
        try:
            name = layout.path(args["class_name"])
            result.update(self._bring(Path(args["directory"]) / name, args, task_vars or {}))
        except layout.BundleError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle was not written: {exc}; next: see that {args['directory']} can be "
                "written and has space, then run this again (what is there is kept)"
            ) from exc
        return result

    def _bring(
        self, folder: Path, args: dict[str, Any], variables: dict[str, Any]
    ) -> dict[str, Any]:
        folder.mkdir(parents=True, exist_ok=True)
        there = sums.of(folder, (one for one in sums.files(folder) if "/" not in one))
        here, had = args["had"][self._host], list(args["had"].values())
        install = args["install"]
        told = self._node(
            {
                "act": "fetch",
                "repositories": install["repositories"],
                "parts": {**args["more"], **install["parts"]},
                "without": base.lacking(here, had),
                "kernels": base.kernels(had),
                "held": sorted(set(there.values())),
                "host": self._host,
            },
            variables,
        )
        files = told["files"]
        new = [one for one in files if there.get(layout.path(one["file"])) != one["sha256"]]
        stray = sorted(set(there) - {one["file"] for one in files} - _INDEX)
        if not self._task.check_mode:
            held = {digest: name for name, digest in there.items()}
            for one in new:
                self._carry(one, told["folder"], folder, held.get(one["sha256"]))
            for name in stray:
                (folder / name).unlink()
            self._node({"act": "clean"}, variables)
        return {
            "changed": bool(new or stray),
            "class_name": folder.name,
            "kind": told["kind_of_packages"],
            "digest": args["digest"],
            "made_on": self._host,
            "kernels": base.kernels(had),
            "files": files,
            "fetched": [one["file"] for one in new],
            "bytes": sum(one["size"] for one in files),
        }

    def _node(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = self._execute_module(
            module_name=_NODE, module_args=args, task_vars=variables
        )
        if done.get("failed"):
            raise AnsibleActionFail(str(done.get("msg")), result=done)
        return done

    def _carry(self, one: dict[str, Any], source: str, folder: Path, copy: str | None) -> None:
        """Lay one file there, whole and with the right sum, or not at all."""
        path = folder / one["file"]
        part = path.with_name(path.name + sums.PART)
        try:
            if copy is not None:
                part.unlink(missing_ok=True)
                os.link(folder / copy, part)
            else:
                self._connection.fetch_file(f"{source}/{one['file']}", str(part))
            if sums.sha256(part) != one["sha256"]:
                raise layout.BundleError(
                    f"{self._host}: {one['file']} came with another sum than its repository's "
                    f"signed index promises ({one['sha256']}); next: run this again"
                )
            part.chmod(0o644)
            os.replace(part, path)
        except AnsibleError as exc:
            raise AnsibleActionFail(
                f"{self._host}: {one['file']} could not be brought to the controller: {exc}; next: "
                "run this again (what is there is kept)"
            ) from exc
        finally:
            part.unlink(missing_ok=True)


_INDEX = {"Packages", "Packages.gz", "Release", "InRelease"}
