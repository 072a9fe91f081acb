# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections that are one model in one template, and are left out where it has nothing to tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech
from ..models import (
    benchmarks as measured,
    counters as counted,
    nvlink as linked,
    plan as planned,
    reach,
    since as compared,
    stack as installed,
)

# How a standing of a version looks.
_LOOKS = {installed.USUAL: "ok", installed.ODD: "fail", installed.SPLIT: "unknown"}
_LEGEND = (("ok", ""), ("fail", "X"), ("odd", "!"), ("unused", "o"), ("none", "-"))

Make = Callable[[Mapping[str, Any], Speech], Section | None]


def _told(name: str, title: str, read: Callable[[Mapping[str, Any]], Any], template: str = "", **values: Any) -> Make:
    def section(run: Mapping[str, Any], t: Speech) -> Section | None:
        reported = read(run)
        if reported is None:
            return None
        html = environment.render(f"sections/{template or name}.html.j2", t, told=reported, **values)
        return Section(name, t(title), html)

    return section


def _counters(run: Mapping[str, Any]) -> counted.Heat | None:
    heat = counted.read(run)
    return heat if heat.read or heat.none or heat.unread.shown else None


def _nvlinks(run: Mapping[str, Any]) -> linked.Nvlink | None:
    found = linked.read(run)
    return found if found.maps or found.unseen or found.without else None


# What got better and worse since the last run; none for the first run.
since = _told("since", "since.title", compared.read)
# What this run changed on hosts, task by task; none where nobody listened (docs/run.md tells how to).
changes = _told("changes", "changes.title", compared.changes)
# The stack that was planned for each class of hosts, and why; none where the run planned nothing.
plan = _told("plan", "plan.title", planned.read)
# The waivers of the site: used, not used and expired.
waivers = _told("waivers", "waivers.title", planned.waivers)
# What bench.yml measured, of its own date; none where nobody ever did.
benchmarks = _told("benchmarks", "benchmarks.title", measured.read)
# Who reached whom: how many did, and every way that is not well or was not tried.
rdma = _told("rdma", "rdma.title", reach.rdma, "reach", over="rdma", counts="rdma.counts")
tcp = _told("tcp", "tcp.title", reach.tcp, "reach", over="tcp", counts="tcp.counts")
# Port error counters as a heat map, by powers of ten: hosts with any, by port; none for a run without hosts.
counters = _told("counters", "counters.title", _counters, shades=range(1, counted.SHADES))
# The NVLinks of every class of equal hosts: GPUs by links, and what differs on which host.
nvlink = _told("nvlink", "nvlink.title", _nvlinks, legend=_LEGEND)
# The versions of the stack: how many hosts have each, and which have another; none where nobody told of any.
stack = _told("stack", "stack.title", lambda run: installed.read(run) or None, looks=_LOOKS)
