# SPDX-License-Identifier: GPL-3.0-or-later
"""Render launch scripts for the hosts of this run, from what they told.

Runs on the controller and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files as _files
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import make
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.words import LaunchError
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

# What every script of ours says at its head, and no other file of that name.
_MARK = "; rendered by ibready "


class ActionModule(SiteAction):
    """The whole of the module ``launch``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "kind": {"type": "str", "choices": [make.ALL, *KINDS], "default": make.ALL},
        "dest": {"type": "path"},
        "show": {"type": "bool", "default": True},
        "image": {"type": "str"},
        "program": {"type": "str"},
        "arguments": {"type": "list", "elements": "str", "default": []},
        "nodes": {"type": "int"},
        "processes": {"type": "int"},
        "port": {"type": "int"},
        "mounts": {"type": "list", "elements": "str", "default": []},
        "bucket_mb": {"type": "int"},
        "accumulation": {"type": "int"},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        hostvars = variables["hostvars"]
        reported = {name: hostvars[name] for name in args["hosts"] if name in hostvars}
        try:
            made = make.make(reported, args["hosts"], args["kind"], args)
        except LaunchError as exc:
            raise AnsibleActionFail(f"nothing to launch: {exc}") from exc
        changed: list[str] = []
        removed: list[str] = []
        if args["dest"]:
            changed = self._write(Path(args["dest"]), made.files)
            removed = self._remove(Path(args["dest"]), made.files)
        if args["show"]:
            self._show(made, args["kind"])
        for name, why in made.cluster.absent.items():
            self._display.warning(plain(f"{name} is left out of the launch scripts: {why}"))
        return {
            "changed": bool(changed or removed),
            "written": changed,
            "removed": removed,
            "dest": str(Path(args["dest"]).resolve()) if args["dest"] else "",
            "scripts": dict(made.scripts),
            "files": dict(made.files),
            "refused": dict(made.refused),
            "hosts": [node.name for node in made.cluster.nodes],
            "addresses": {node.name: node.address for node in made.cluster.nodes},
            "processes": made.cluster.processes,
            "left_out": dict(made.cluster.absent),
            "notes": list(made.cluster.notes),
            "rails": made.cluster.rails,
            "rails_why": made.cluster.rails_why,
            "simulated": made.cluster.simulated,
        }

    def _write(self, folder: Path, files: Mapping[str, str]) -> list[str]:
        """Write what differs, nothing in check mode; returns the names of it."""
        changed = []
        try:
            for name, text in files.items():
                path = folder / name
                if path.is_file() and path.read_text() == text:
                    continue
                changed.append(name)
                if not self._task.check_mode:
                    _files.write_whole(path, text)
                    path.chmod(0o755 if name.endswith(".sh") else 0o644)
        except (OSError, UnicodeDecodeError) as exc:
            raise AnsibleActionFail(
                f"the launch scripts were not written to {folder}: {exc}; next: set launch_dir"
            ) from exc
        return changed

    def _remove(self, folder: Path, files: Mapping[str, str]) -> list[str]:
        """Take away what an earlier run rendered and this one did not, for it would go with another
        rank.sh than its own; nothing in check mode. Returns the names."""
        removed = []
        try:
            for kind in KINDS.values():
                path = folder / kind.file
                if kind.file in files or not path.is_file() or _MARK not in path.read_text():
                    continue
                lists = [file for file in kind.files if file.endswith("-hostfile")]
                removed += [entry for entry in (kind.file, *lists) if (folder / entry).is_file()]
            if not self._task.check_mode:
                for name in removed:
                    (folder / name).unlink()
        except (OSError, UnicodeDecodeError) as exc:
            raise AnsibleActionFail(
                f"what an earlier run left in {folder} was not removed: {exc}; next: set launch_dir"
            ) from exc
        return removed

    def _show(self, made: make.Made, kind: str) -> None:
        """One script whole with what belongs to it; of all, which there are."""
        if kind != make.ALL:
            for name, text in made.files.items():
                self._display.display(f"\n----- {name}\n{text}")
            return
        for entry in KINDS.values():
            why = made.refused.get(entry.name)
            reported = f"not rendered: {why}" if why else f"{entry.title}, run it {entry.where}"
            self._display.display(f"{entry.file:<14}{reported}")
