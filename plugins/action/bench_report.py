# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what bench.yml measured, compare it with the baseline, and write both.

Runs on the controller, for no single host knows what its equals reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import TESTS
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import (
    baseline,
    judge,
    render,
    reported,
    values,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_WORDS = {"type": "list", "elements": "str"}
_REGRESSION = ".regression"


class ActionModule(SiteAction):
    """The whole of the module ``bench_report``: there is nothing to do on a node."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {**_WORDS, "required": True},
        "dest": {"type": "path", "required": True},
        "what": {
            **_WORDS,
            "choices": list(values.WHAT),
            "default": list(values.WHAT),
        },
        "tests": {**_WORDS, "choices": list(TESTS), "default": list(TESTS)},
        "floors": {"type": "dict", "default": {}},
        "baseline": {"type": "str", "default": ""},
        "rebase": {"type": "bool", "default": False},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["hosts"] or not args["dest"]:
            raise AnsibleActionFail("no host to report on, or no dest; next: name both")
        if not args["what"] or (values.PERFTEST in args["what"] and not args["tests"]):
            raise AnsibleActionFail(
                "nothing to measure: bench_what, or bench_tests, names nothing; "
                "next: leave it out, or name what to measure"
            )
        try:
            hosts = reported.gather(variables["hostvars"], args["hosts"])
        except (ExpectationError, WaiverError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        folder = Path(args["dest"])
        kept = baseline.where(args["baseline"], variables, folder)
        try:
            before = baseline.read(kept)
        except baseline.BaselineError as exc:
            if not args["rebase"]:
                raise AnsibleActionFail(str(exc)) from exc
            before = {}
        desired = judge.Desired(
            what=args["what"],
            tests=args["tests"],
            floors=_floors(args["floors"]),
            size=len(variables["groups"]["all"]),
        )
        now = datetime.now(UTC)
        report, mine = apart.together(
            hosts,
            lambda some: judge.report(some, desired, before, created=now, version=VERSION),
            reported.lost,
        )
        self._display.display("\n" + render.render(report) + "\n")
        better = _kept(report, before, mine, rebase=args["rebase"])
        result: dict[str, Any] = dict(
            changed=False,
            verdicts={name: host["verdict"] for name, host in report["hosts"].items()},
            bad=summary.bad(report),
            json=str((folder / "bench.json").resolve()),
            baseline=str(kept),
            baseline_written=[] if self._task.check_mode else sorted(better),
        )
        if not self._task.check_mode:
            self._write(folder / "bench.json", report, kept, {**before, **better} if better else {})
        return result

    def _write(
        self,
        path: Path,
        report: Mapping[str, Any],
        kept: Path,
        baselines: Mapping[str, baseline.Baseline],
    ) -> None:
        """Write the report, and the baselines where one is new."""
        try:
            files.write_whole(path, json.dumps(report, indent=1) + "\n")
            if baselines:
                baseline.write(kept, baselines, VERSION)
        except OSError as exc:
            raise AnsibleActionFail(
                f"{exc.filename or path} was not written: {exc}; next: set ibready_report_dir or bench_baseline"
            ) from exc


def _kept(
    report: Mapping[str, Any],
    before: Mapping[str, baseline.Baseline],
    mine: Mapping[str, baseline.Baseline],
    *,
    rebase: bool,
) -> dict[str, baseline.Baseline]:
    """What of this run becomes a baseline: the first of its kind, or one that was asked for.

    The first must be without any failure; who asks for one accepts warnings, and no error.
    """
    failures = {
        check["severity"]
        for host in report["hosts"].values()
        for check in host["checks"]
        if check["result"] == FAIL and not check["id"].endswith(_REGRESSION)
    }
    if "error" in failures or (failures and not rebase):
        return {}
    return {kind: entry for kind, entry in mine.items() if rebase or kind not in before}


def _floors(given: Mapping[str, Any]) -> dict[str, float]:
    """Numbers above 0, by their names."""
    found = {}
    for name, value in given.items():
        if name not in values.FLOORS:
            raise AnsibleActionFail(f"bench_floors: {name!r} is none of {', '.join(values.FLOORS)}; next: leave it out")
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            found[name] = 0.0
        if not found[name] > 0:
            raise AnsibleActionFail(f"bench_floors: {name}: {value!r} is no number above 0")
    return found
