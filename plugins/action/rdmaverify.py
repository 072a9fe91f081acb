# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived over RDMA between the hosts of a run.

Runs on the controller, for no single host knows what both ends said.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    DEGRADED,
    READY,
    from_dict,
    sentence,
    trouble,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.rdma import incast, judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json


class ActionModule(SiteAction):
    """The whole of the module ``rdmaverify``; what nodes have to do is rdma_data's."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "path"},
        "report_only": {"type": "bool", "default": False},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["hosts"]:
            raise AnsibleActionFail(
                "rdmaverify: no host to judge: the inventory (or --limit) names none; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        try:
            hosts = _hosts.gather(variables["hostvars"], args["hosts"])
        except (ExpectationError, WaiverError) as exc:
            raise AnsibleActionFail(f"rdmaverify: {exc}") from exc
        plan = _hosts.rdma_plan(variables["hostvars"], args["hosts"])
        size = len(variables["groups"]["all"])
        now = datetime.now(UTC)
        made = incast.made_by(variables["hostvars"], args["hosts"])
        loaded = made and (lambda some: incast.judged(some, variables["hostvars"], made))
        report = apart.together(hosts, lambda some: judge.alone(some, plan, size, now, loaded or None), _hosts.lost)
        self._display.display("\n" + judge.text(report) + "\n")
        bad = {}
        for name, host in report["hosts"].items():
            if host["verdict"] not in (READY, DEGRADED):
                wrong = trouble(map(from_dict, host["checks"]))
                more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
                bad[name] = f"{name} is {host['verdict']}: {sentence(wrong[0])}{more}"
        verdicts = {name: host["verdict"] for name, host in report["hosts"].items()}
        checks = {name: host["checks"] for name, host in report["hosts"].items()}
        result: dict[str, Any] = dict(changed=False, verdicts=verdicts, checks=checks, bad=bad)
        if args["dest"]:
            result["json"] = self._write(Path(args["dest"]), report)
        if bad and not args["report_only"]:
            result.update(failed=True, msg=". ".join(bad.values()))
        return result

    def _write(self, folder: Path, report: dict[str, Any]) -> str:
        path = folder / "ibready-rdma.json"
        try:
            files.write_whole(path, render_json.render(report))
        except OSError as exc:
            raise AnsibleActionFail(
                f"the report was not written to {folder}: {exc}; next: set ibready_report_dir"
            ) from exc
        return str(path.resolve())
