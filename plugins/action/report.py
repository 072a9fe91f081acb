# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the cluster from what all hosts told, or read a run object that was kept, and show and write the report.

Runs on the controller, for no single host can know what must agree between hosts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.release import __version__ as ANSIBLE
from jinja2 import TemplateError

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import clean
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as _fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts, summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import (
    build,
    changed,
    compare,
    course,
    folded,
    history,
    inventory,
    read,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import texts as _texts
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json, render_text, rendered
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.shown import show

# Facts are as the release that wrote them has them, and no schema is held against them.
_ODD = (AttributeError, IndexError, KeyError, TypeError, ValueError, TemplateError)


class ActionModule(SiteAction):
    """The whole of the module ``report``: there is nothing to do on a node."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str"},
        "run": {"type": "str"},
        "since": {"type": "str"},
        "dest": {"type": "path", "required": True},
        "report_only": {"type": "bool", "default": False},
        "fail_on": {"choices": list(summary.ACCEPTED), "default": "not_ready"},
        "formats": {
            "type": "list",
            "elements": "str",
            "choices": list(rendered.FORMATS),
            "default": list(rendered.FORMATS),
        },
        "keep": {"type": "int", "default": history.KEEP},
        "cluster": {"type": "str", "default": ""},
    }

    RULES: ClassVar[dict[str, Any]] = {
        "mutually_exclusive": [("hosts", "run")],
        "required_one_of": [("hosts", "run")],
        "required_by": {"since": "run"},
    }

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        # A run before is read from files; no host has a word in it.
        self.trusted = "run" not in self._task.args
        return super().run(tmp, task_vars)

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["dest"]:
            raise AnsibleActionFail("dest is empty; next: name the folder for the report")
        if args["run"] is not None:
            return self._again(args)
        if not args["hosts"]:
            raise AnsibleActionFail(
                "no host to report on: the inventory (or --limit) names none; "
                "next: `ansible-inventory -i INVENTORY --graph`"
            )
        folder = Path(args["dest"])
        report = self._judged(args, variables, folder)
        shown = rendered.surely(render_text.render, report, self._display.warning)
        show(self._display, shown)
        bad = summary.bad(report, summary.ACCEPTED[args["fail_on"]])
        return _result(report, bad, args, **self._write(folder, report, args))

    def _again(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Show and render a kept run object, and say what got better and worse since another."""
        try:
            path, report = _kept(args)
            texts = rendered.render(report, args["formats"])
            shown = render_text.render(report)
            bad = summary.bad(report, summary.ACCEPTED[args["fail_on"]])
        except read.RunError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except _ODD as exc:
            raise AnsibleActionFail(
                f"the facts of a run object cannot be rendered ({exc!r}): it was written by "
                "another release, or by hand; next: name another run, or run verify.yml again"
            ) from exc
        show(self._display, shown)
        if args["since"]:
            show(self._display, render_text.since(report["since"]))
        try:
            paths = rendered.write(history.stem(path), texts)
        except OSError as exc:
            raise AnsibleActionFail(
                f"what was rendered was not written beside {path}: {exc}; next: copy the run "
                "object to a folder that can be written to, and name it there"
            ) from exc
        return _result(report, bad, args, json=str(path.resolve()), since=report["since"], **paths)

    def _judged(self, args: Mapping[str, Any], variables: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """The run object."""
        hostvars = variables["hostvars"]
        try:
            hosts = _hosts.gather(hostvars, args["hosts"])
        except ExpectationError as exc:
            raise AnsibleActionFail(f"ibready_expect: {exc}") from exc
        except WaiverError as exc:
            raise AnsibleActionFail(f"ibready_waivers: {exc}") from exc
        size = len(variables["groups"]["all"])
        switches = _texts.of_hosts(hostvars, args["hosts"])
        for error in switches.errors if switches is not None else ():
            self._display.warning(error)
        report = cluster.report(
            hosts,
            size=size,
            created=datetime.now(UTC),
            version=VERSION,
            plan=_hosts.ping_plan(hostvars, args["hosts"]),
            moves=_hosts.rdma_plan(hostvars, args["hosts"]),
            asked=_fabrics.asked(hostvars, args["hosts"], variables["groups"]["all"]),
            switches=switches,
        )
        sources = inventory.sources(variables)
        groups, left = inventory.groups(variables["groups"], report["hosts"])
        if left:
            self._display.warning(
                f"the report has the {len(groups)} smallest groups of the inventory; {left} more are left out"
            )
        run = build.Run(
            playbooks=_playbooks(),
            size=size,
            fail_on=args["fail_on"],
            limit=str(variables.get("ansible_limit") or ""),
            check_mode=bool(self._task.check_mode),
            cluster=args["cluster"] or inventory.cluster(sources),
            groups=groups,
            inventory=sources,
        )
        found = build.complete(
            report,
            hosts,
            run,
            plan=build.plan(hostvars, args["hosts"]),
            listened=changed.TOLD,
            ansible=ANSIBLE,
            benchmarks=build.benchmarks(folder / "bench.json"),
        )
        return {**found, **_compared(folder, found, min(args["keep"], history.KEEP))}

    def _write(self, folder: Path, report: dict[str, Any], args: Mapping[str, Any]) -> dict[str, str]:
        """Write all files; a full disk on the controller must not hide the verdict."""
        # A run of some hosts is none of the cluster: its report lies beside the cluster's.
        is_whole = not report["run"]["limit"] or len(report["hosts"]) >= report["run"]["size"]
        stem = folder / (rendered.NAME if is_whole else rendered.LIMITED)
        path = stem.with_name(stem.name + rendered.JSON)
        text = render_json.render(folded.fold(report))
        cleaned, warn = clean.clean(report, text), self._display.warning
        texts = {
            name: rendered.surely(entry, cleaned, warn)
            for name, (_unused, entry) in rendered.FORMATS.items()
            # Of two files of metrics a collector refuses both; the cluster's stays.
            if name in args["formats"] and (is_whole or name != rendered.METRICS)
        }
        try:
            files.write_whole(path, text)
            paths = rendered.write(stem, texts)
            if is_whole:
                history.keep(folder, report, text, args["keep"])
        except OSError as exc:
            raise AnsibleActionFail(
                f"the report was not written to {folder}: {exc}; next: set ibready_report_dir"
            ) from exc
        return {"json": str(path.resolve()), **paths}


def _result(report: Mapping[str, Any], bad: dict[str, str], args: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    verdicts = {name: host["verdict"] for name, host in report["hosts"].items()}
    failed = {"failed": True, "msg": " ".join(bad.values())} if bad and not args["report_only"] else {}
    return {"changed": False, "verdicts": verdicts, "bad": bad, **more, **failed}


def _kept(args: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Where the run object is, and what it holds; raises RunError."""
    folder = Path(args["dest"])
    path = folder / f"{rendered.NAME}{rendered.JSON}"
    if args["run"] and not args["run"].isdigit():
        path = Path(args["run"]).expanduser()
    elif args["run"] not in ("", "0"):
        path = history.find(folder, read.standing(path), args["run"], by="report_from")
    report = read.read(path)
    if args["since"]:
        before = read.standing(history.find(folder, report, args["since"], by="since"))
        report["since"] = compare.compare(before, report)
    return path, report


def _playbooks() -> list[str]:
    """What ansible-playbook was given; of an ad hoc run nothing."""
    given = context.CLIARGS.get("args")
    return [str(entry) for entry in given] if isinstance(given, list | tuple) else []


def _compared(folder: Path, report: Mapping[str, Any], most: int) -> dict[str, Any]:
    """``since``: what differs from the report that lies there, None where there is none.

    ``history``: of the last ``most`` runs, carried on from that report, and from the newest kept run
    where it cannot be read; None where nobody wants runs kept.
    """
    last = folder / f"{rendered.NAME}{rendered.JSON}"
    since: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    unread: list[str] = []
    for path in [last, *reversed(history.kept(folder)[-most:])] if most > 1 else [last]:
        if not os.path.exists(path):
            continue
        try:
            before = read.standing(path)
        except read.RunError as exc:
            unread.append(str(exc))
        if path == last:
            since = compare.compare(before, report) if before else {"created": "", "error": unread[0], "hosts": {}}
        if before:
            break
    return {"since": since, "history": course.carried(before, report, most, unread) if most > 1 else None}
