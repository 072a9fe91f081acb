# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the package files of one class from a host that reaches the repositories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import base, layout, sums
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import remote
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction, ask_host

_MODULE = "stack_bundle_files"


class ActionModule(SiteAction):
    """Ask the host which files, and carry those to the controller that are not there yet."""

    _requires_connection = True
    SPEC: ClassVar[dict[str, Any]] = {
        "directory": {"type": "path", "required": True},
        "class_name": {"type": "str", "required": True},
        "digest": {"type": "str", "required": True},
        "install": {"type": "dict", "required": True},
        "more": {"type": "dict", "default": {}},
        "had": {"type": "dict", "required": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        self._host = str(variables.get("inventory_hostname"))
        try:
            name = layout.path(args["class_name"])
            return self._bring(Path(args["directory"]) / name, args, variables)
        except layout.BundleError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except remote.RemoteError as exc:
            raise AnsibleActionFail(f"{self._host}: {exc}; next: do not trust this host before you know why") from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle was not written: {exc}; next: see that {args['directory']} can be "
                "written and has space, then run this again (what is there is kept)"
            ) from exc

    def _bring(self, folder: Path, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        folder.mkdir(parents=True, exist_ok=True)
        there = sums.of(folder, (file for file in sums.files(folder) if "/" not in file))
        here, had = args["had"][self._host], list(args["had"].values())
        install = args["install"]
        reported = ask_host(
            self,
            _MODULE,
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
        files, source = reported["files"], remote.path(reported["folder"])
        new = [file for file in files if there.get(layout.path(file["file"])) != file["sha256"]]
        stray = sorted(set(there) - {file["file"] for file in files} - _INDEX)
        if not self._task.check_mode:
            held = {digest: name for name, digest in there.items()}
            for entry in new:
                self._carry(entry, source, folder, held.get(entry["sha256"]))
            for name in stray:
                (folder / name).unlink()
            ask_host(self, _MODULE, {"act": "clean"}, variables)
        return {
            "changed": bool(new or stray),
            "class_name": folder.name,
            "kind": reported["kind_of_packages"],
            "digest": args["digest"],
            "made_on": self._host,
            "kernels": base.kernels(had),
            "files": files,
            "fetched": [entry["file"] for entry in new],
            "bytes": sum(file["size"] for file in files),
        }

    def _carry(self, entry: dict[str, Any], source: str, folder: Path, copy: str | None) -> None:
        """Lay one file there, whole and with the right sum, or not at all."""
        path = folder / entry["file"]
        part = path.with_name(path.name + sums.PART)
        try:
            if copy is not None:
                part.unlink(missing_ok=True)
                os.link(folder / copy, part)
            else:
                self._connection.fetch_file(f"{source}/{entry['file']}", str(part))
            if sums.sha256(part) != entry["sha256"]:
                raise layout.BundleError(
                    f"{self._host}: {entry['file']} came with another sum than its repository's "
                    f"signed index promises ({entry['sha256']}); next: run this again"
                )
            part.chmod(0o644)
            os.replace(part, path)
        except AnsibleError as exc:
            raise AnsibleActionFail(
                f"{self._host}: {entry['file']} could not be brought to the controller: {exc}; next: "
                "run this again (what is there is kept)"
            ) from exc
        finally:
            part.unlink(missing_ok=True)


_INDEX = {"Packages", "Packages.gz", "Release", "InRelease"}
