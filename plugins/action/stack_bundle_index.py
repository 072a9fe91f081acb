# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a folder of package files a bundle: indexes, manifest, sums and signatures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import layout, make
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``stack_bundle_index``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "directory": {"type": "path", "required": True},
        "key": {"type": "str", "required": True},
        "classes": {"type": "list", "elements": "dict", "required": True},
        "beside": {"type": "list", "elements": "path", "default": []},
        "simulated": {"type": "str", "default": ""},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        try:
            written = make.finish(
                Path(args["directory"]),
                layout.fingerprint(args["key"]),
                {kind["class_name"]: _fetched(kind) for kind in args["classes"]},
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
        return {**result, "changed": bool(written), "written": written}


def _fetched(entry: dict[str, Any]) -> make.Fetched:
    """What stack_bundle returned, as `make` takes it."""
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
