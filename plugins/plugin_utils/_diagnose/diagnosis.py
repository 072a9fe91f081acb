# SPDX-License-Identifier: GPL-3.0-or-later
"""A report in, its ranked causes out; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import PASS, Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import (
    command,
    finding,
    rank,
    unknowns,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.candidates import (
    Pool,
    explain,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.cause import Cause
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.parts import Parts
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.table import ROWS
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.unknowns import Unlooked

SCHEMA = "ibready/diagnosis/1"


@dataclass(frozen=True)
class Diagnosis:
    """``passed``: how many checks were looked at and are well. ``looked``: the hosts of which
    anything at all could be told."""

    causes: Sequence[Cause]
    unknown: Sequence[Unlooked]
    waived: Sequence[Finding]
    passed: int
    hosts: Mapping[str, str]
    looked: Sequence[str]
    simulated: str

    @property
    def answer(self) -> str:
        """The diagnosis in a sentence. Without a cause it is well only if all was looked at."""
        if not self.looked:
            return "no host could be looked at: nothing is known"
        of = f"{len(self.looked)} of {len(self.hosts)} hosts looked at, {self.passed} checks passed"
        count = len(self.unknown)
        blind = "1 thing was" if count == 1 else f"{count} things were"
        if self.causes:
            many = "1 cause" if len(self.causes) == 1 else f"{len(self.causes)} causes"
            also = f"; {blind} not looked at" if count else ""
            return f"{many}, the likeliest reason first ({of}{also})"
        lost = len(self.hosts) - len(self.looked)
        if lost:
            some = "1 host" if lost == 1 else f"{lost} hosts"
            told = f"{some} could not be looked at, and no cause was found in the others"
            return f"{told}: that is no clean bill ({of})"
        if count:
            return f"no cause was found, but {blind} not looked at: that is no clean bill ({of})"
        if self.waived:
            return f"no cause was found beside what is waived ({of})"
        return f"no cause was found in the hosts, and all of them was looked at ({of})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON, schema ibready/diagnosis/1 without its head."""
        return {
            "answer": self.answer,
            "simulated": self.simulated,
            "hosts": dict(self.hosts),
            "looked": list(self.looked),
            "passed": self.passed,
            "causes": [one.to_dict() for one in self.causes],
            "unknown": [one.to_dict() for one in self.unknown],
            "waived": [{**one.to_dict(), "waived": one.check.waived} for one in self.waived],
        }


def diagnose(
    report: Mapping[str, Any],
    job: Mapping[str, Sequence[Check]] | None = None,
    where: command.Where | None = None,
) -> Diagnosis:
    """Every cause in the report of all hosts, and in the log of a ``job`` that ran on them."""
    found, waived = finding.of_report(report)
    of_job = finding.of_job(job or {})
    found += of_job[0]
    waived += of_job[1]
    pool = Pool(ROWS, report["hosts"])
    for one in found:
        if one.wrong:
            pool.add(one)
    blind = [one for one in found if not one.wrong]
    left = explain(ROWS, pool, blind)
    hidden = {id(one) for candidate in left for one in candidate.hidden}
    told = report["hosts"].values()
    parts = {name: Parts(host["facts"]) for name, host in report["hosts"].items()}
    return Diagnosis(
        causes=rank.ranked(left, report["hosts"], parts, where or command.Where()),
        unknown=unknowns.grouped([one for one in blind if id(one) not in hidden]),
        waived=waived,
        passed=sum(one["result"] == PASS for host in told for one in host["checks"])
        + sum(one.result == PASS for mine in (job or {}).values() for one in mine),
        hosts={name: host["verdict"] for name, host in report["hosts"].items()},
        looked=[name for name, host in report["hosts"].items() if _looked(host)],
        simulated=report["simulated"],
    )


def _looked(host: Mapping[str, Any]) -> bool:
    """Whether anything was told of a host, beside that it was reached."""
    return any(
        check["result"] in ("pass", "fail") and check["id"] != "host.access.reachable"
        for check in host["checks"]
    )
