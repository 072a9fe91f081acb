# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what bench.yml measured, compare it with the baseline, and write both.

Runs on the controller, for no single host knows what its equals reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import FAIL
from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import TESTS
from ansible_collections.ibready.cluster.plugins.module_utils._expect import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION
from ansible_collections.ibready.cluster.plugins.module_utils._waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.plugin_utils import _files, _summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._bench import (
    baseline,
    judge,
    render,
    told,
    values,
)

_REGRESSION = ".regression"


class ActionModule(ActionBase):
    """The whole of the module ``bench_report``: there is nothing to do on a node."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "dest", "what", "tests", "floors", "baseline", "rebase"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        words = {"type": "list", "elements": "str"}
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {**words, "required": True},
                "dest": {"type": "path", "required": True},
                "what": {**words, "choices": list(judge.WHAT), "default": list(judge.WHAT)},
                "tests": {**words, "choices": list(TESTS), "default": list(TESTS)},
                "floors": {"type": "dict", "default": {}},
                "baseline": {"type": "str", "default": ""},
                "rebase": {"type": "bool", "default": False},
            }
        )
        if not args["hosts"] or not args["dest"]:
            raise AnsibleActionFail("no host to report on, or no dest; next: name both")
        if not args["what"] or (values.PERFTEST in args["what"] and not args["tests"]):
            raise AnsibleActionFail(
                "nothing to measure: bench_what, or bench_tests, names nothing; "
                "next: leave it out, or name what to measure"
            )
        variables = task_vars or {}
        try:
            hosts = told.gather(variables["hostvars"], args["hosts"])
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
        wish = judge.Wish(
            what=args["what"],
            tests=args["tests"],
            floors=_floors(args["floors"]),
            size=len(variables["groups"]["all"]),
        )
        report, mine = judge.report(hosts, wish, before, created=datetime.now(UTC), version=VERSION)
        self._display.display("\n" + render.render(report) + "\n")
        better = _kept(report, before, mine, rebase=args["rebase"])
        result.update(
            changed=False,
            verdicts={name: host["verdict"] for name, host in report["hosts"].items()},
            bad=_summary.bad(report),
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
            _files.write_whole(path, json.dumps(report, indent=1) + "\n")
            if baselines:
                baseline.write(kept, baselines, VERSION)
        except OSError as exc:
            raise AnsibleActionFail(
                f"{exc.filename or path} was not written: {exc}; next: set ibready_report_dir or "
                "bench_baseline"
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
        one["severity"]
        for host in report["hosts"].values()
        for one in host["checks"]
        if one["result"] == FAIL and not one["id"].endswith(_REGRESSION)
    }
    if "error" in failures or (failures and not rebase):
        return {}
    return {kind: one for kind, one in mine.items() if rebase or kind not in before}


def _floors(given: Mapping[str, Any]) -> dict[str, float]:
    """Numbers above 0, by their names."""
    found = {}
    for name, value in given.items():
        if name not in judge.FLOORS:
            raise AnsibleActionFail(
                f"bench_floors: {name!r} is none of {', '.join(judge.FLOORS)}; next: leave it out"
            )
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            found[name] = 0.0
        if not found[name] > 0:
            raise AnsibleActionFail(f"bench_floors: {name}: {value!r} is no number above 0")
    return found
