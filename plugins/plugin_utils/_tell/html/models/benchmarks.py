# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench.yml measured, of its own date: what its checks say, hosts that fall short first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .....module_utils._ground.check import FAIL, PASS, UNKNOWN
from ...._ground.dicts import as_dict, as_list
from .text import Names, brief, cut, moment, names

ROWS = 150
_BENCH = (".bench.",)
_ORDER = (FAIL, UNKNOWN, PASS)


@dataclass(frozen=True)
class Row:
    """One check of one host, or the same of several. ``look``: FAIL, UNKNOWN, PASS or waived."""

    id: str
    subject: str
    look: str
    observed: str
    expected: str
    hosts: Names


@dataclass(frozen=True)
class Benchmarks:
    """``error``: why they cannot be read. ``unmeasured``: reached, and nothing was measured."""

    error: str = ""
    created: str = ""
    simulated: str = ""
    what: tuple[str, ...] = ()
    measured: int = 0
    unmeasured: Names = field(default_factory=Names)
    rows: tuple[Row, ...] = ()
    more: int = 0


def read(run: Mapping[str, Any]) -> Benchmarks | None:
    """None where nobody ever measured."""
    reported = run.get("benchmarks")
    if not isinstance(reported, Mapping):
        return None
    if reported.get("error"):
        return Benchmarks(brief(reported["error"], 400))
    hosts = {str(name): as_dict(entry) for name, entry in as_dict(reported.get("hosts")).items()}
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    for name, host in hosts.items():
        for check in map(as_dict, as_list(host.get("checks"))):
            result = str(check.get("result"))
            if result not in _ORDER or not any(entry in str(check.get("id")) for entry in _BENCH):
                continue
            said = str(check.get("observed") or check.get("cause") or "")
            key = (
                brief(check.get("id"), 60),
                brief(check.get("subject"), 60),
                "waived" if check.get("waived") else result,
                brief(said),
                brief(check.get("expected") or "", 80),
            )
            groups.setdefault(key, []).append(name)
    rows = [Row(*key, names(members)) for key, members in groups.items()]
    order = (FAIL, UNKNOWN, "waived", PASS)
    rows.sort(key=lambda row: (order.index(row.look), row.id, row.subject))
    shown, more = cut(rows, ROWS)
    idle = [name for name, host in hosts.items() if not host.get("measured")]
    return Benchmarks(
        created=moment(str(reported.get("created") or "")),
        simulated=brief(reported.get("simulated") or ""),
        what=tuple(brief(entry, 20) for entry in as_list(reported.get("what"))[:8]),
        measured=len(hosts) - len(idle),
        unmeasured=names(idle),
        rows=tuple(shown),
        more=more,
    )
