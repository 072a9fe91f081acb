# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the package files of one class from a host that reaches the repositories, and sign those of all classes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import base, layout, make, sums
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import remote
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction, ask_host

_MODULE = "stack_bundle_files"


class ActionModule(SiteAction):
    """Ask the host which files, and carry those to the controller that are not there yet; make repositories of them."""

    _requires_connection = True
    SPEC: ClassVar[dict[str, Any]] = {
        "state": {"choices": ["fetched", "signed"], "required": True},
        "directory": {"type": "path", "required": True},
        "class_name": {"type": "str"},
        "digest": {"type": "str"},
        "install": {"type": "dict"},
        "more": {"type": "dict", "default": {}},
        "had": {"type": "dict"},
        "key": {"type": "str"},
        "classes": {"type": "list", "elements": "dict"},
        "beside": {"type": "list", "elements": "path", "default": []},
        "simulated": {"type": "str", "default": ""},
    }
    RULES: ClassVar[dict[str, Any]] = {
        "required_if": [
            ("state", "fetched", ("class_name", "digest", "install", "had")),
            ("state", "signed", ("key", "classes")),
        ]
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        self._host = str(variables.get("inventory_hostname"))
        if args["state"] == "signed":
            return self._sign(args)
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

    def _sign(self, args: dict[str, Any]) -> dict[str, Any]:
        """Write what makes repositories of the classes' folders, and sign it."""
        if self._task.check_mode:
            return {"changed": False, "written": []}
        try:
            written = make.finish(
                Path(args["directory"]),
                layout.fingerprint(args["key"]),
                {entry["class_name"]: _fetched(entry) for entry in args["classes"]},
                [Path(entry) for entry in args["beside"]],
                datetime.now(UTC).isoformat(timespec="seconds"),
                f"ibready {VERSION}",
                args["simulated"],
            )
        except layout.BundleError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle was not finished: {exc}; next: see that {args['directory']} can be "
                "written and has space, then run this again"
            ) from exc
        return {"changed": bool(written), "written": written}

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


def _fetched(entry: dict[str, Any]) -> make.Fetched:
    """What was returned for a class, as `make` takes it."""
    files = entry["files"]
    described = layout.Class(
        entry["kind"],
        entry["digest"],
        entry["made_on"],
        tuple(entry["kernels"]),
        {each["file"]: (each["name"], each["version"]) for each in files},
    )
    return make.Fetched(
        described,
        tuple(each["index"] for each in sorted(files, key=lambda each: str(each["file"]))),
        {each["file"]: each["sha256"] for each in files},
    )
