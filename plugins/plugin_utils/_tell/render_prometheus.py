# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as metrics for node_exporter's textfile collector on the controller.

Ten series a host, and beside them no more than checks and areas in the catalog: nothing that a host
says becomes a label but its name in the inventory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ...module_utils._agent import textfile
from ...module_utils._agent.textfile import Family
from ...module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN
from ...module_utils._verify.catalog import CATALOG
from .._run.shape import VERDICTS, WAIVER_STATES

PREFIX = "ibready_run_"
# Of fabrics: a site has a few, and their names come from the fabric.
_MOST_FABRICS = 32
_WAIVED = "waived"
_RESULTS = (PASS, FAIL, UNKNOWN, SKIP, _WAIVED)
_OTHER = "other"

Said = Mapping[str, Any]


def render(report: Said) -> str:
    """The whole file."""
    return textfile.render(families(report))


def families(report: Said) -> list[Family]:
    """Every metric; what a run did not look at has no series."""
    hosts = dict(zip(_labels(report["hosts"]), report["hosts"].values(), strict=True))
    return [
        *_run(report),
        _verdicts("hosts", "Number of hosts with this verdict.", hosts.values()),
        *_hosts(hosts),
        *_checks(hosts.values()),
        *_fabrics(report),
        _waivers(report),
        _pings(report),
    ]


def _family(name: str, words: str) -> Family:
    return Family(f"{PREFIX}{name}", words)


def _run(report: Said) -> list[Family]:
    info = _family("info", "The run that this file describes.")
    info.add(1, version=report["ibready"], simulated="yes" if report["simulated"] else "no")
    when = _family("timestamp_seconds", "When the run was judged, in seconds since 1970.")
    when.add(int(datetime.fromisoformat(report["created"]).timestamp()))
    changed = _family("changed_hosts", "Number of hosts that the run changed.")
    # What would have been changed was not.
    if report.get("changes") is not None and not report["run"]["check_mode"]:
        changed.add(sum(bool(tasks) for tasks in report["changes"].values()))
    return [info, when, changed]


def _verdicts(name: str, words: str, judged: Iterable[Said]) -> Family:
    counts = Counter(check["verdict"] for check in judged)
    found = _family(name, words)
    for verdict in VERDICTS:
        found.add(counts[verdict], verdict=verdict)
    return found


def _hosts(hosts: Mapping[str, Said]) -> list[Family]:
    verdicts = _family("host_verdict", "1 for the verdict of the host, 0 for the others.")
    results = _family("host_checks", "Number of checks of the host by result; waived checks are a result of their own.")
    trouble = _family("host_errors", "Number of failed or unknown checks that keep the host from being ready.")
    for label, host in hosts.items():
        for verdict in VERDICTS:
            verdicts.add(int(host["verdict"] == verdict), host=label, verdict=verdict)
        counts = Counter(map(_result, host["checks"]))
        for result in _RESULTS:
            results.add(counts[result], host=label, result=result)
        trouble.add(sum(_is_error(check) for check in host["checks"]), host=label)
    return [verdicts, results, trouble]


def _checks(hosts: Iterable[Said]) -> list[Family]:
    areas: Counter[tuple[str, str]] = Counter()
    bad: Counter[tuple[str, str, str]] = Counter()
    for host in hosts:
        areas.update((_known(check["id"]).split(".")[0], _result(check)) for check in host["checks"])
        bad.update({_trouble(check) for check in host["checks"] if _result(check) in (FAIL, UNKNOWN)})
    total = _family("checks", "Number of checks by area and result, over all hosts.")
    for (area, result), count in sorted(areas.items()):
        total.add(count, area=area, result=result)
    trouble = _family("trouble_hosts", "Number of hosts on which the check failed or was unknown.")
    for (check, result, severity), count in sorted(bad.items()):
        trouble.add(count, check=check, result=result, severity=severity)
    return [total, trouble]


def _fabrics(report: Said) -> list[Family]:
    reported = report.get("fabric")
    verdicts = _family("fabric_verdict", "1 for the verdict of the fabric, 0 for the others.")
    left = _family("fabrics_left_out", "Number of fabrics beyond the worst, which have no verdict here.")
    unasked = _family("fabric_unasked", "1 if a fabric should have been queried and could not be.")
    if reported is not None:
        worst = sorted(reported["fabrics"], key=lambda fabric: -VERDICTS.index(fabric["verdict"]))
        shown = worst[:_MOST_FABRICS]
        names = _labels([entry["name"] for entry in shown])
        for name, item in zip(names, shown, strict=True):
            for verdict in VERDICTS:
                verdicts.add(int(item["verdict"] == verdict), fabric=name, verdict=verdict)
        left.add(max(0, len(worst) - _MOST_FABRICS))
        unasked.add(int(bool(reported["error"])))
    return [verdicts, left, unasked]


def _waivers(report: Said) -> Family:
    counts = Counter(waiver["state"] for waiver in report.get("waivers") or ())
    found = _family("waivers", "Number of waivers that are used, unused or expired.")
    for state in WAIVER_STATES:
        found.add(counts[state], state=state)
    return found


def _pings(report: Said) -> Family:
    counts: Counter[str] = Counter()
    for ping in report["pings"]:
        untested = ping["untested"] or not ping["sent"]
        whole = ping["received"] == ping["sent"]
        counts["untested" if untested else "answered" if whole else "lost"] += 1
    found = _family("ping_pairs", "Number of port pairs by ping result: all answered, some lost, or not tested.")
    for result in ("answered", "lost", "untested"):
        found.add(counts[result], result=result)
    return found


def _result(check: Said) -> str:
    return _WAIVED if check["waived"] else str(check["result"])


def _is_error(check: Said) -> bool:
    return check["severity"] == "error" and _result(check) in (FAIL, UNKNOWN)


def _trouble(check: Said) -> tuple[str, str, str]:
    return _known(check["id"]), check["result"], check["severity"]


def _known(check_id: str) -> str:
    return check_id if check_id in CATALOG else _OTHER


def _labels(names: Iterable[str]) -> list[str]:
    """The names as labels, each once even where only what UTF-8 cannot hold tells them apart."""
    found: dict[str, None] = {}
    for name in names:
        label = valid = name.encode(errors="replace").decode()
        number = 1
        while label in found:
            number += 1
            label = f"{valid} ({number})"
        found[label] = None
    return list(found)
