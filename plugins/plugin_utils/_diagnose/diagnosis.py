# SPDX-License-Identifier: GPL-3.0-or-later
"""A report in, its ranked causes out; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils._ground.check import PASS, Check
from . import command, finding, rank
from .candidates import Pool, explain
from .finding import Finding, Unlooked
from .parts import Parts
from .rank import Cause
from .table import rows

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
            return "no host could be checked: nothing is known"
        of = f"{len(self.looked)} of {len(self.hosts)} hosts checked, {self.passed} checks passed"
        count = len(self.unknown)
        blind = f"{count} item{'' if count == 1 else 's'} could not be checked"
        if self.causes:
            many = "1 cause" if len(self.causes) == 1 else f"{len(self.causes)} causes"
            also = f"; {blind}" if count else ""
            return f"{many}, the likeliest first ({of}{also})"
        lost = len(self.hosts) - len(self.looked)
        if lost:
            some = "1 host" if lost == 1 else f"{lost} hosts"
            reported = f"{some} could not be checked, and no cause was found on the others"
            return f"{reported}: this is not an all-clear ({of})"
        if count:
            return f"no cause was found, but {blind}: this is not an all-clear ({of})"
        if self.waived:
            return f"no cause was found apart from waived failures ({of})"
        return f"no cause was found on the hosts, and every check could look ({of})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON, schema ibready/diagnosis/1 without its head."""
        return {
            "answer": self.answer,
            "simulated": self.simulated,
            "hosts": dict(self.hosts),
            "looked": list(self.looked),
            "passed": self.passed,
            "causes": [cause.to_dict() for cause in self.causes],
            "unknown": [unlooked.to_dict() for unlooked in self.unknown],
            "waived": [{**entry.to_dict(), "waived": entry.check.waived} for entry in self.waived],
        }


def diagnose(
    report: Mapping[str, Any], job: Mapping[str, Sequence[Check]] | None = None, where: command.Where | None = None
) -> Diagnosis:
    """Every cause in the report of all hosts, and in the log of a ``job`` that ran on them. ``where``: else from where
    the report was made, as far as it tells."""
    found, waived = finding.of_report(report)
    of_job = finding.of_job(job or {})
    found += of_job[0]
    waived += of_job[1]
    pool = Pool(rows(), report["hosts"])
    for item in found:
        if item.wrong:
            pool.add(item)
    blind = [item for item in found if not item.wrong]
    left = explain(rows(), pool, blind)
    hidden = {id(entry) for candidate in left for entry in candidate.hidden}
    reported = report["hosts"].values()
    parts = {name: Parts(host["facts"]) for name, host in report["hosts"].items()}
    asked = {name: str(entry["asked"]).partition(" ")[0] for name, entry in finding.fabrics(report).items()}
    inventory = (report.get("run") or {}).get("inventory")
    where = where or command.Where(inventory or command.Where.inventory)
    return Diagnosis(
        causes=rank.ranked(left, report["hosts"], parts, replace(where, asked=asked)),
        unknown=finding.grouped([entry for entry in blind if id(entry) not in hidden]),
        waived=waived,
        passed=sum(check["result"] == PASS for host in reported for check in host["checks"])
        + sum(entry.result == PASS for mine in (job or {}).values() for entry in mine),
        hosts={name: host["verdict"] for name, host in report["hosts"].items()},
        looked=[name for name, host in report["hosts"].items() if _looked(host)],
        simulated=report["simulated"],
    )


def _looked(host: Mapping[str, Any]) -> bool:
    """Whether anything was told of a host, beside that it was reached."""
    return any(check["result"] in ("pass", "fail") and check["id"] != finding.ACCESS for check in host["checks"])
