# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge InfiniBand fabrics: of a run that has asked them, or of one host that asks now.

Runs on the controller: whose HCA is whose takes what all hosts told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._verify import fold
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import gather, report as _report
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import PAUSE
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_fabric
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.shown import show

_MODULE = "ibready.cluster.fabric_look"
_SITE = (
    "ibready_fabric_plan",
    "ibready_fabric_known",
    "ibready_fabric_standbys",
    "ibready_fabric_sharp",
    "ibready_fabric_oversubscription",
    "ibready_fabric_design",
    "ibready_fabric_from",
    "ibready_topology_file",
    "inventory_dir",
)


class ActionModule(ActionBase):
    """The whole of the module ``fabricverify``; what a node has to do is fabric_look's."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        _unused, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str"},
                "ports": {"type": "list", "elements": "dict"},
                "bundle": {"type": "path"},
                "plan": {"type": "path"},
                "report_only": {"type": "bool", "default": False},
            },
            mutually_exclusive=[("hosts", "ports"), ("hosts", "bundle")],
        )
        site = {name: self._templar.template(variables.get(name)) for name in _SITE}
        try:
            if args["hosts"] is not None:
                reported, hosts = self._of_run(args["hosts"], args["plan"], variables)
            else:
                me = str(variables.get("inventory_hostname"))
                why = "" if args["bundle"] else self._asks_not(me, variables, site)
                if why:
                    result.update(skipped=True, changed=False, msg=why)
                    return result
                # Before minutes of asking: a plan that cannot be read stops here.
                reported = _report.Query(
                    wishes=gather.wishes(site, args["plan"]),
                    known=gather.known(site),
                    inventory=tuple(variables.get("groups", {}).get("all", ())),
                )
                asked = self._execute_module(
                    module_name=_MODULE,
                    module_args=self._question(args, variables),
                    task_vars=variables,
                )
                if asked.get("failed") or "looks" not in asked:
                    result.update(asked)
                    return result
                reported = replace(reported, looks=gather.looks(me, asked))
                hosts = self._of_earlier(reported.inventory, variables.get("hostvars", {}))
        except (gather.FabricError, ExpectationError, WaiverError) as exc:
            raise AnsibleActionFail(f"fabricverify: {exc}") from exc
        result.update(self._judged(reported, hosts, report_only=args["report_only"]))
        return result

    def _question(self, args: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of fabric_look."""
        given = {key: args[key] for key in ("ports", "bundle") if args[key]}
        pause = self._templar.template(variables.get(PAUSE))
        return given if pause is None else {**given, "pause": pause}

    def _of_run(
        self, names: list[str], plan: str | None, variables: dict[str, Any]
    ) -> tuple[_report.Query, list[_hosts.Host]]:
        """What the playbooks have registered."""
        everybody = variables.get("groups", {}).get("all", ())
        reported = _report.asked(variables["hostvars"], names, everybody, plan)
        if reported is None:
            raise gather.FabricError(
                "nobody has asked a fabric in this run; next: playbooks/fabric.yml, or leave `hosts` out to ask now"
            )
        return reported, _hosts.gather(variables["hostvars"], names)

    def _of_earlier(self, everybody: Sequence[str], hostvars: Mapping[str, Any]) -> list[_hosts.Host]:
        """Hosts of which earlier tasks have told."""
        names = [name for name in everybody if "ibready_ibverify" in hostvars.get(name, {})]
        return _hosts.gather(hostvars, names)

    def _asks_not(self, me: str, variables: Mapping[str, Any], site: Mapping[str, Any]) -> str:
        """Why this host is not the one to ask; "" where it is."""
        # Of the hosts that are left: one that could not be reached asks for nobody.
        left = list(variables.get("ansible_play_hosts") or [me])
        named = gather.listed(site, "ibready_fabric_from")
        chosen = [entry for entry in named if entry in left] if named else left[:1]
        if not chosen:
            raise gather.FabricError(
                f"nobody asks: ibready_fabric_from names {', '.join(named)}, and none of them takes part in this run"
            )
        if me in chosen:
            return ""
        return f"{', '.join(chosen)} asks for all (ibready_fabric_from names others)"

    def _judged(self, told: _report.Query, hosts: list[_hosts.Host], *, report_only: bool) -> dict[str, Any]:
        today = datetime.now(UTC).date()
        found, _of_hosts = apart.together(hosts, lambda some: _report.judged(some, told, today), _hosts.lost)
        if not told.looks and not hosts:
            why = "this host has no InfiniBand port (ibready_fabric_from names who asks)"
            return {"skipped": True, "changed": False, "msg": why, **found}
        lines = render_fabric.lines({"fabric": found})
        show(self._display, "\n".join(map(plain, lines)))
        checks = [_model.from_dict(check) for fabric in found["fabrics"] for check in fabric["checks"]]
        verdict = _model.UNKNOWN_VERDICT if found["error"] else _model.verdict(checks)
        if found["skipped"]:
            return {"skipped": True, "changed": False, "msg": found["skipped"], **found}
        result = {
            "schema": "ibready/verdict/1",
            "changed": False,
            "verdict": verdict,
            "checks": [check.to_dict() for check in checks],
            **found,
        }
        if verdict in (_model.NOT_READY, _model.UNKNOWN_VERDICT) and not report_only:
            said = "; ".join(fold.told(line) for line in fold.folded(_model.trouble(checks)))
            result.update(failed=True, msg=f"the fabric is {verdict}: {found['error'] or said}")
        return result
