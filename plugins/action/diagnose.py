# SPDX-License-Identifier: GPL-3.0-or-later
"""Say why several nodes are slower than one: from what all hosts told, or from their bundles.

Runs on the controller and runs nothing on any host; the commands that it names are the operator's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._expect import waivers
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    BUNDLE,
    INVENTORY,
    ExpectationError,
    Expectations,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import few
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import (
    bundles,
    diagnosis,
    job_log,
    job_times,
    render,
    table,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.command import Where
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as _fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair import place
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.inventory import sources
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import expected
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import texts as _texts
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import rendered
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.shown import show

NO_LOG = (
    "no job log was given, so what a job really used was not checked; "
    "next: run it with NCCL_DEBUG=INFO (docs/nccl-logs.md) and add -e diagnose_log=FILE"
)
_SHOWN = 4
_BY_BUNDLE = (
    "{} are in no inventory, and are judged by what their bundles say was expected of them, which root of each "
    "host wrote; next: give the inventory that they stand in (-i), or diagnose_expect"
)
_STRANGERS = (
    "{} are in no inventory, so that only their hardware tells what to expect of them; next: give "
    "the inventory that they stand in (-i), or diagnose_expect"
)


class ActionModule(SiteAction):
    """The whole of the module ``diagnose``: there is nothing to do on a node."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str"},
        "bundles": {"type": "path"},
        "expect": {"type": "dict"},
        "log": {"type": "path"},
        "times": {"type": "list", "elements": "path", "default": []},
        "dest": {"type": "path", "required": True},
        "most": {"type": "int", "default": render.MOST},
    }
    RULES: ClassVar[dict[str, Any]] = {
        "mutually_exclusive": [("hosts", "bundles")],
        "required_one_of": [("hosts", "bundles")],
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["dest"]:
            raise AnsibleActionFail("dest is empty; next: name the folder for the diagnosis")
        created = datetime.now(UTC)
        try:
            table.rows()
            hosts = self._gather(args, variables)
        except ExpectationError as exc:
            raise AnsibleActionFail(f"ibready_expect: {exc}") from exc
        except waivers.WaiverError as exc:
            raise AnsibleActionFail(f"ibready_waivers: {exc}") from exc
        except (bundles.BundlesError, table.CausesError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        inventory = list(variables["groups"]["all"])
        size = len(hosts) if args["bundles"] else len(inventory)
        plan = None if args["bundles"] else _hosts.ping_plan(variables["hostvars"], args["hosts"])
        moves = None if args["bundles"] else _hosts.rdma_plan(variables["hostvars"], args["hosts"])
        asked = None if args["bundles"] else _fabrics.asked(variables["hostvars"], inventory, inventory)
        report = cluster.report(
            hosts,
            size=size,
            created=created,
            version=VERSION,
            compare=True,
            plan=plan,
            asked=asked,
            moves=moves,
            switches=_texts.of_hosts(variables["hostvars"], inventory),
        )
        job = self._job(args["log"], hosts, created)
        for name, checks in self._times(args["times"], hosts, created).items():
            job.setdefault(name, []).extend(checks)
        where = _where(variables, inventory)
        reported = rendered.surely(lambda run: diagnosis.diagnose(run, job, where), report, self._display.warning)
        notes = [] if args["log"] else [NO_LOG]
        strangers = [host for host in hosts if args["bundles"] and host.name not in inventory]
        by_bundle = [host.name for host in strangers if _has(host, BUNDLE)]
        untold = [host.name for host in strangers if not _has(host, BUNDLE) and not _has(host, INVENTORY)]
        notes += [_BY_BUNDLE.format(few(by_bundle, _SHOWN))] if by_bundle else []
        notes += [_STRANGERS.format(few(untold, _SHOWN))] if untold else []
        show(self._display, render.render(reported, max(args["most"], 1), notes))
        written = {
            "schema": diagnosis.SCHEMA,
            "created": created.isoformat(timespec="seconds"),
            "ibready": VERSION,
            "from": "bundles" if args["bundles"] else "hosts",
            **reported.to_dict(),
            "notes": notes,
        }
        result: dict[str, Any] = dict(
            changed=False,
            **{name: written[name] for name in ("answer", "causes", "unknown", "waived", "looked")},
            simulated=reported.simulated,
            places=place.of(report),
            json=self._write(Path(args["dest"]), written),
        )
        if not reported.looked:
            result.update(failed=True, msg=_nothing(report))
        return result

    def _gather(self, args: Mapping[str, Any], variables: Mapping[str, Any]) -> list[_hosts.Host]:
        """What is known of every host; raises what a wrong variable or folder raises."""
        if args["bundles"]:
            found = bundles.find(Path(args["bundles"]))
            return bundles.judge(found, lambda name: _site(name, args["expect"], variables))
        if not args["hosts"]:
            raise AnsibleActionFail(
                "no host to diagnose: the inventory (or --limit) names none; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        return _hosts.gather(variables["hostvars"], args["hosts"])

    def _job(self, path: str | None, hosts: Sequence[_hosts.Host], created: datetime) -> dict[str, list[Check]]:
        if not path:
            return {}
        if not Path(path).is_file():
            raise AnsibleActionFail(
                f"the log {path} is no file of the controller; next: put the job's log there "
                "(docs/nccl-logs.md), or leave diagnose_log out"
            )
        return job_log.judge(job_log.read(path), hosts, created.date())

    def _times(self, paths: Sequence[str], hosts: Sequence[_hosts.Host], created: datetime) -> dict[str, list[Check]]:
        if not paths:
            return {}
        try:
            return job_times.judge(job_times.read(paths), hosts, created.date())
        except job_times.TimesError as exc:
            raise AnsibleActionFail(str(exc)) from exc

    def _write(self, folder: Path, written: Mapping[str, Any]) -> str:
        """Write the file; a full disk on the controller must not hide the diagnosis."""
        path = folder / "ibready-diagnosis.json"
        try:
            files.write_whole(path, json.dumps(written, indent=1) + "\n")
        except OSError as exc:
            raise AnsibleActionFail(
                f"the diagnosis was not written to {folder}: {exc}; next: set ibready_report_dir"
            ) from exc
        return str(path.resolve())


def _site(
    name: str, otherwise: Mapping[str, Any] | None, variables: Mapping[str, Any]
) -> tuple[Expectations, Sequence[waivers.Waiver]]:
    """What the inventory says of a host that it has; of one that it has not, the option."""
    if name not in variables["groups"]["all"]:
        return from_inventory(otherwise), ()
    known = variables["hostvars"][name]
    return (
        from_inventory(expected.of(known)),
        waivers.parse(known.get("ibready_waivers") or [], CATALOG),
    )


def _has(host: _hosts.Host, source: str) -> bool:
    """Whether this is who says something of what to expect of the host."""
    return any(each.source == source for each in host.expect.values.values())


def _where(variables: Mapping[str, Any], inventory: Sequence[str]) -> Where:
    """The inventory that the operator gave; Ansible's default where that names no host is none."""
    found = sources(variables)
    return Where(found, inventory) if found and inventory else Where()


def _nothing(report: Mapping[str, Any]) -> str:
    """Why nothing can be said: the first reason of every host, some of them."""
    reported = [f"{name}: {host['checks'][0]['cause']}" for name, host in report["hosts"].items()]
    more = f" and {len(reported) - 3} more" if len(reported) > 3 else ""
    return (
        f"no host could be checked, so there is no diagnosis ({'; '.join(reported[:3])}{more}); "
        "next: fix what keeps the hosts from answering, or collect their bundles again"
    )
