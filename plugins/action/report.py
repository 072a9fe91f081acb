# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the cluster from what all hosts told, show the table and write the report.

Runs on the controller, for no single host can know what must agree between hosts.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._expect import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION
from ansible_collections.ibready.cluster.plugins.module_utils._waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.plugin_utils import (
    _cluster,
    _files,
    _hosts,
    _render_html,
    _render_json,
    _render_text,
    _summary,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as _fabrics


class ActionModule(ActionBase):
    """The whole of the module ``report``: there is nothing to do on a node."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "dest", "report_only"))

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "dest": {"type": "path", "required": True},
                "report_only": {"type": "bool", "default": False},
            }
        )
        if not args["dest"]:
            raise AnsibleActionFail("dest is empty; next: name the folder for the report")
        if not args["hosts"]:
            raise AnsibleActionFail(
                "no host to report on: the inventory (or --limit) names none; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        try:
            hosts = _hosts.gather((task_vars or {})["hostvars"], args["hosts"])
        except ExpectationError as exc:
            raise AnsibleActionFail(f"ibready_expect: {exc}") from exc
        except WaiverError as exc:
            raise AnsibleActionFail(f"ibready_waivers: {exc}") from exc
        report = _cluster.report(
            hosts,
            size=len((task_vars or {})["groups"]["all"]),
            created=datetime.now(UTC),
            version=VERSION,
            plan=_hosts.ping_plan((task_vars or {})["hostvars"], args["hosts"]),
            asked=_fabrics.asked(
                (task_vars or {})["hostvars"], args["hosts"], (task_vars or {})["groups"]["all"]
            ),
        )
        self._display.display("\n" + _render_text.render(report) + "\n")
        result.update(
            changed=False,
            verdicts={name: host["verdict"] for name, host in report["hosts"].items()},
            bad=_summary.bad(report),
            **self._write(Path(args["dest"]), report),
        )
        if not _cluster.is_good(report) and not args["report_only"]:
            result.update(failed=True, msg=" ".join(result["bad"].values()))
        return result

    def _write(self, folder: Path, report: dict[str, Any]) -> dict[str, str]:
        """Write both files; a full disk on the controller must not hide the verdict."""
        paths = {"json": folder / "ibready-report.json", "html": folder / "ibready-report.html"}
        try:
            _files.write_whole(paths["json"], _render_json.render(report))
            _files.write_whole(paths["html"], _render_html.render(report))
        except OSError as exc:
            raise AnsibleActionFail(
                f"the report was not written to {folder}: {exc}; next: set ibready_report_dir"
            ) from exc
        return {name: str(path.resolve()) for name, path in paths.items()}
