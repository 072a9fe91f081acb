# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived over RDMA between the hosts of a run.

Runs on the controller, for no single host knows what both ends said.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    DEGRADED,
    READY,
    from_dict,
    sentence,
    trouble,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.plugin_utils import (
    _files,
    _hosts,
    _render_json,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import judge


class ActionModule(ActionBase):
    """The whole of the module ``rdmaverify``; what nodes have to do is rdma_data's."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "dest", "report_only"))

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "dest": {"type": "path"},
                "report_only": {"type": "bool", "default": False},
            }
        )
        if not args["hosts"]:
            raise AnsibleActionFail(
                "rdmaverify: no host to judge: the inventory (or --limit) names none; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        variables = task_vars or {}
        try:
            hosts = _hosts.gather(variables["hostvars"], args["hosts"])
        except (ExpectationError, WaiverError) as exc:
            raise AnsibleActionFail(f"rdmaverify: {exc}") from exc
        plan = _hosts.rdma_plan(variables["hostvars"], args["hosts"])
        size = len(variables["groups"]["all"])
        now = datetime.now(UTC)
        report = judge.alone(hosts, plan, size, now)
        self._display.display("\n" + judge.text(report) + "\n")
        bad = {}
        for name, one in report["hosts"].items():
            if one["verdict"] not in (READY, DEGRADED):
                wrong = trouble(map(from_dict, one["checks"]))
                more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
                bad[name] = f"{name} is {one['verdict']}: {sentence(wrong[0])}{more}"
        verdicts = {name: one["verdict"] for name, one in report["hosts"].items()}
        checks = {name: one["checks"] for name, one in report["hosts"].items()}
        result.update(changed=False, verdicts=verdicts, checks=checks, bad=bad)
        if args["dest"]:
            result["json"] = self._write(Path(args["dest"]), report)
        if bad and not args["report_only"]:
            result.update(failed=True, msg=". ".join(bad.values()))
        return result

    def _write(self, folder: Path, report: dict[str, Any]) -> str:
        path = folder / "ibready-rdma.json"
        try:
            _files.write_whole(path, _render_json.render(report))
        except OSError as exc:
            raise AnsibleActionFail(
                f"the report was not written to {folder}: {exc}; next: set ibready_report_dir"
            ) from exc
        return str(path.resolve())
