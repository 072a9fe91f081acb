# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep pods off the nodes that a verify calls not ready, and give back those that are ready again.

Runs on the controller and speaks to the cluster's API server by kubectl; no host is touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import escaped, few, printable
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.dicts import as_dict
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import plan as _plan, told
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.cluster import Cluster, do
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import ClusterError
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import lease_told
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import read
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_OF_ALL = ("cordon_context", "cordon_kubectl", "cordon_allow", "cordon_most", "cordon_never")


class ActionModule(SiteAction):
    """The whole of the module ``cordon``: there is nothing to do on a node."""

    SPEC: ClassVar[dict[str, Any]] = {
        "report": {"type": "path", "required": True},
        "context": {"type": "str", "default": ""},
        "kubectl": {"type": "str", "default": "kubectl"},
        "allow": {"type": "list", "elements": "str", "choices": list(_plan.KINDS), "default": []},
        "most": {"type": "int", "default": 1},
        "never": {"type": "list", "elements": "str", "default": ["fabric.sm.*"]},
        "looked": {"type": "dict"},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if args["most"] < 1:
            raise AnsibleActionFail(f"cordon_most is {args['most']}; next: say 1 or more")
        limits, now = _plan.Limits(args["allow"], args["most"]), datetime.now(UTC)
        dry, at = bool(self._task.check_mode), now.isoformat(timespec="seconds")
        try:
            report = read.read(Path(args["report"]))
            told.refuse_stale(report, now)
            hosts = told.hosts(report, _called(report, variables["hostvars"]), args["never"])
            cluster = Cluster(args["kubectl"], args["context"])
            planned = _plan.plan(hosts, cluster.nodes(), limits, at)
        except (read.RunError, ClusterError) as exc:
            raise AnsibleActionFail(f"{escaped(str(exc))}. Nothing was changed.") from None
        if args["looked"] is None:
            self._display.display(f"\n{told.plan(planned, limits.most, dry=dry)}\n")
        else:
            planned = told.only(planned, args["looked"], lambda step: _busy(step, variables["hostvars"]))
        by_name = {host.name: host for host in hosts}
        steps, held, errors = [], list(planned.held), {}
        for step in planned.steps:
            try:
                came = do(cluster, by_name[step.host], step, limits, at, dry=dry)
            except ClusterError as exc:
                errors[step.host] = escaped(str(exc))
                continue
            if isinstance(came, _plan.Held):
                held.append(came)
            elif came is not None:
                steps.append(came)
        if steps or errors:
            self._display.display(told.done(steps, errors, dry=dry) + "\n")
        if held and args["looked"] is not None:
            self._display.display(told.left(held) + "\n")
        return {
            "changed": bool(steps),
            "steps": [step.to_dict() for step in steps],
            "held": [vars(entry) for entry in held],
            "errors": errors,
            "out": planned.out,
            "known": planned.known,
        }


def _busy(step: _plan.Step, hostvars: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why a node stays as it is though all speaks for the act, and what to do: who changes the host wants it so."""
    other = lease_told(hostvars, [step.host])
    if other:
        return other, "run this again when that has ended"
    if not step.back:
        return None
    lease, stat = (as_dict(hostvars[step.host].get(name)) for name in ("ibready_lease", "ibready_cordon_drained"))
    drained = as_dict(stat.get("stat")).get("exists")
    if drained is True:
        return "ibready drained it and has not given it back", "run again what drained it (docs/rolling.md)"
    if drained is not False or lease.get("taken") is not True:
        why = escaped(str(lease.get("msg") or stat.get("msg") or "no answer"))
        return f"nobody could tell whether another run is at work there: {why}", "fix that, and run this again"
    return None


def _called(report: Mapping[str, Any], hostvars: Mapping[str, Any]) -> dict[str, str]:
    """The names that the inventory gives the hosts as nodes; ClusterError where it does not speak for all of them."""
    strange = [name for name in report["hosts"] if name not in hostvars]
    if strange:
        names = few([printable(name) for name in strange], 4)
        raise ClusterError(f"the report is of {names}, which this inventory has not. Next: name its own inventory (-i)")
    mine = {name: hostvars[name] for name in report["hosts"]}
    # A run asks one cluster once: what a group alone says would hold for all, or for none.
    for name in _OF_ALL:
        values: dict[str, str] = {}
        for host, known in mine.items():
            values.setdefault(repr(known.get(name)), host)
        if len(values) > 1:
            raise ClusterError(
                f"{name} differs between {' and '.join(list(values.values())[:2])}. Next: set it once for all, or run "
                "each group by itself (--limit)"
            )
    said = {name: known.get("kubernetes_rdma_node") for name, known in mine.items()}
    return {name: str(node) for name, node in said.items() if node}
