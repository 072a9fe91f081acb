# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run object holds besides the judgement: run, versions, plan, waivers, benchmarks."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...module_utils._expect.waivers import Waiver
from ...module_utils._ground import strict
from ...module_utils._ground.check import Check, from_dict
from .._fabric.report import FABRIC
from .._fleet.bench.judge import SCHEMA as BENCH
from .._hosts import hosts as _hosts
from . import changed, shape, valid

_BENCH_KEYS = ("created", "ibready", "simulated", "what", "baseline")
_BENCH_HOST = ("verdict", "measured", "checks")
# What of a run object comes first, for whoever opens it.
_HEAD = ("schema", "revision", "created", "ibready", "simulated")


@dataclass(frozen=True)
class Run:
    """How it was run: ``limit`` and ``size`` of the inventory, ``fail_on`` one of FAIL_ON. ``cluster``
    and ``groups`` as inventory.py has them; ``inventory``: the sources given with -i."""

    playbooks: Sequence[str]
    size: int
    fail_on: str
    limit: str = ""
    check_mode: bool = False
    cluster: str = ""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    inventory: Sequence[str] = ()


def complete(
    report: Mapping[str, Any],
    hosts: Sequence[_hosts.Host],
    run: Run,
    *,
    plan: Mapping[str, Any] | None,
    listened: changed.Reported,
    ansible: str,
    benchmarks: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The run object of shape.RUN: the judgement (_fleet/cluster.report), and all else of the run."""
    today = datetime.datetime.fromisoformat(report["created"]).date()
    started = listened.started
    found = {
        **report,
        "revision": shape.REVISION,
        "run": {
            "playbooks": list(run.playbooks),
            "started": started.isoformat(timespec="seconds") if started else None,
            "check_mode": run.check_mode,
            "limit": run.limit,
            "size": run.size,
            "fail_on": run.fail_on,
            "cluster": run.cluster,
            "groups": {name: list(members) for name, members in run.groups.items()},
            "inventory": list(run.inventory),
        },
        "versions": {
            "ibready": report["ibready"],
            "ansible": ansible,
            "python": platform.python_version(),
        },
        "plan": plan,
        "changes": listened.to_dict(),
        "waivers": _waivers(report, hosts, today),
        "benchmarks": benchmarks,
        "since": None,
        "history": None,
    }
    last = ("hosts", "pings")
    first = {name: found[name] for name in _HEAD}
    rest = {name: item for name, item in found.items() if name not in (*first, *last)}
    return {**first, **rest, **{name: found[name] for name in last}}


def plan(hostvars: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """By class what this run planned, and for whom; None where it planned nothing."""
    found: dict[str, Any] = {}
    for name in names:
        mine = _hosts.variables(hostvars, name).get("ibready_plan")
        if not isinstance(mine, Mapping) or "class" not in mine:
            continue
        reported = found.setdefault(
            str(mine["class"]),
            {
                "verdict": str(mine.get("verdict", "")),
                "because": [str(entry) for entry in mine.get("because") or ()],
                "digest": str(mine.get("digest", "")),
                "stack": dict(mine.get("stack") or {}),
                "hosts": [],
            },
        )
        reported["hosts"].append(name)
    return found or None


def benchmarks(path: Path) -> dict[str, Any] | None:
    """What bench.yml left in the folder of the report, without the single pairs; None: nothing."""
    try:
        raw = strict.loads(path.read_text())
        if raw["schema"] != BENCH:
            raise ValueError(f"schema {valid.shown(raw['schema'])}")
        hosts = {name: {key: host[key] for key in _BENCH_HOST} for name, host in raw["hosts"].items()}
        found = {"error": "", **{key: raw[key] for key in _BENCH_KEYS}, "hosts": hosts}
        said = next(valid.wrong(found, shape.BENCHMARKS), "")
        if said:
            raise ValueError(said)
    except FileNotFoundError:
        return None
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as exc:
        said = f"{path} cannot be read ({exc}); next: run playbooks/bench.yml again, or remove it"
        return {"error": said}
    return found


def _waivers(report: Mapping[str, Any], hosts: Sequence[_hosts.Host], today: datetime.date) -> list[dict[str, str]]:
    """Every waiver of the site once, and whether something needed it."""
    fabrics = (report.get("fabric") or {}).get("fabrics") or ()
    fabric = [from_dict(check) for each in fabrics for check in each["checks"]]
    found = []
    for waiver in dict.fromkeys(waiver for host in hosts for waiver in host.waivers):
        mine = report["hosts"].get(waiver.host, {"checks": ()})
        meant = [*_meant(waiver, map(from_dict, mine["checks"])), *_on_fabric(waiver, fabric)]
        used = any(entry.waived for entry in meant)
        state = "expired" if waiver.until < today else "used" if used else "unused"
        found.append(
            {
                "check": waiver.check,
                "host": waiver.host,
                "subject": waiver.subject,
                "until": waiver.until.isoformat(),
                "reason": waiver.reason,
                "state": state,
            }
        )
    return found


def _meant(waiver: Waiver, checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if waiver.is_for(check, waiver.host)]


def _on_fabric(waiver: Waiver, checks: Sequence[Check]) -> list[Check]:
    """Those of a fabric that it names: of all, or of a host that is named before the subject."""
    if waiver.host == FABRIC:
        return _meant(waiver, checks)
    found = []
    for check in checks:
        host, _blank, rest = check.subject.partition(" ")
        if host == waiver.host and waiver.is_for(replace(check, subject=rest or "host"), host):
            found.append(check)
    return found
