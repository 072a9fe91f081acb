# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a folder of package files a bundle: indexes, manifest, sums and signatures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import layout, make


class ActionModule(ActionBase):
    """The whole of the module ``stack_bundle_index``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("directory", "key", "classes", "beside", "simulated"))

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "directory": {"type": "path", "required": True},
                "key": {"type": "str", "required": True},
                "classes": {"type": "list", "elements": "dict", "required": True},
                "beside": {"type": "list", "elements": "path", "default": []},
                "simulated": {"type": "str", "default": ""},
            }
        )
        try:
            written = make.finish(
                Path(args["directory"]),
                layout.fingerprint(args["key"]),
                {one["class_name"]: _fetched(one) for one in args["classes"]},
                [Path(one) for one in args["beside"]],
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


def _fetched(one: dict[str, Any]) -> make.Fetched:
    """What stack_bundle returned, as `make` takes it."""
    files = one["files"]
    described = layout.Class(
        one["kind"],
        one["digest"],
        one["made_on"],
        tuple(one["kernels"]),
        {each["file"]: (each["name"], each["version"]) for each in files},
    )
    return make.Fetched(
        described,
        tuple(each["index"] for each in sorted(files, key=lambda each: str(each["file"]))),
        {each["file"]: each["sha256"] for each in files},
    )
