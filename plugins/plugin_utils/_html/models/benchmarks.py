# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench.yml measured, of its own date: what its checks say, hosts that fall short first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    PASS,
    UNKNOWN,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict, as_list
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models.text import (
    Names,
    brief,
    cut,
    names,
)

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
    told = run.get("benchmarks")
    if not isinstance(told, Mapping):
        return None
    if told.get("error"):
        return Benchmarks(brief(told["error"], 400))
    hosts = {str(name): as_dict(one) for name, one in as_dict(told.get("hosts")).items()}
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    for name, host in hosts.items():
        for check in map(as_dict, as_list(host.get("checks"))):
            result = str(check.get("result"))
            if result not in _ORDER or not any(one in str(check.get("id")) for one in _BENCH):
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
    rows.sort(key=lambda one: (order.index(one.look), one.id, one.subject))
    shown, more = cut(rows, ROWS)
    idle = [name for name, host in hosts.items() if not host.get("measured")]
    return Benchmarks(
        created=brief(told.get("created") or ""),
        simulated=brief(told.get("simulated") or ""),
        what=tuple(brief(one, 20) for one in as_list(told.get("what"))[:8]),
        measured=len(hosts) - len(idle),
        unmeasured=names(idle),
        rows=tuple(shown),
        more=more,
    )
