# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections that are one model in one template, and are left out where it has nothing to tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from .....module_utils._ground.check import DEGRADED, NOT_READY, READY, UNKNOWN_VERDICT
from ...._run.compare import ABSENT
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
    went as before,
)

# How a standing of a version looks.
_LOOKS = {installed.USUAL: "ok", installed.ODD: "fail", installed.SPLIT: "unknown"}
# How a verdict looks in the row of a host, and its sign.
_WENT = {
    **{READY: ("ok", "·"), DEGRADED: ("odd", "f"), UNKNOWN_VERDICT: ("unknown", "?"), NOT_READY: ("fail", "F")},
    ABSENT: ("none", "-"),
}
_LEGEND = (("ok", ""), ("fail", "X"), ("odd", "!"), ("unused", "o"), ("none", "-"))

# The line of a section, and whether something in it is odd.
Says = Callable[[Any, Speech], tuple[Markup, bool]]
Make = Callable[[Mapping[str, Any], Speech], Section | None]


def _told(
    name: str, title: str, read: Callable[[Mapping[str, Any]], Any], says: Says, template: str = "", **values: Any
) -> Make:
    def section(run: Mapping[str, Any], t: Speech) -> Section | None:
        reported = read(run)
        if reported is None:
            return None
        html = environment.render(f"sections/{template or name}.html.j2", t, told=reported, **values)
        return Section(name, t(title), html, *says(reported, t))

    return section


def _counters(run: Mapping[str, Any]) -> counted.Heat | None:
    heat = counted.read(run)
    return heat if heat.read or heat.none or heat.unread.shown else None


def _nvlinks(run: Mapping[str, Any]) -> linked.Nvlink | None:
    found = linked.read(run)
    return found if found.maps or found.unseen or found.without else None


def _since(found: compared.Since, t: Speech) -> tuple[Markup, bool]:
    if found.error:
        return t("since.error"), True
    if not found.count:
        return t("since.nothing", created=found.created), False
    return t("since.counts", n=found.count, created=found.created, **found.counts), True


def _went(found: before.Went, t: Speech) -> tuple[Markup, bool]:
    # Who fails and who changes often stands on the first screen.
    return t("went.says", n=found.bad, all=found.all, warned=found.warned, runs=len(found.runs)), bool(found.unread)


def _changes(found: compared.Changes, t: Speech) -> tuple[Markup, bool]:
    if not found.tasks:
        return t("changes.nothing"), False
    return t("changes.counts", n=found.hosts, tasks=len(found.tasks) + found.more), True


def _waivers(found: planned.Waivers, t: Speech) -> tuple[Markup, bool]:
    counts = {state: found.counts.get(state, 0) for state in ("used", "unused", "expired")}
    return t("waivers.counts", **counts), bool(counts["expired"])


def _benchmarks(found: measured.Benchmarks, t: Speech) -> tuple[Markup, bool]:
    if found.error:
        return t("benchmarks.error"), True
    odd = bool(found.unmeasured.shown) or any(row.look != "pass" for row in found.rows)
    return t("benchmarks.about", created=found.created, n=found.measured), odd


def _reach(counts: str) -> Says:
    def says(found: reach.Reach, t: Speech) -> tuple[Markup, bool]:
        odd = bool(found.bad or found.left_out)
        return t(counts, good=found.good, bad=found.bad, untested=found.left_out), odd

    return says


def _heat(found: counted.Heat, t: Speech) -> tuple[Markup, bool]:
    if found.unread.shown and not found.rows:
        return t("counters.blind", n=found.unread.total), True
    if found.rows:
        return t("counters.about", n=len(found.rows) + found.more, read=found.read), True
    return (t("counters.zero", n=found.read) if found.read else t("counters.none", n=found.none)), False


def _links(found: linked.Nvlink, t: Speech) -> tuple[Markup, bool]:
    odd = sum(len(one.differences) + one.more for one in found.maps)
    if found.unseen:
        return t("nvlink.blind", n=sum(hosts.total for _unused, hosts in found.unseen)), True
    return (t("nvlink.some", n=odd) if odd else t("nvlink.alike")), bool(odd)


def _stack(found: Sequence[installed.Component], t: Speech) -> tuple[Markup, bool]:
    odd = sum(item.odd for item in found)
    return t("stack.says", n=len(found), odd=odd), bool(odd)


# What got better and worse since the last run; none for the first run.
since = _told("since", "since.title", compared.read, _since)
# Which hosts were not ready in which of the last runs; none for the first run.
went = _told("went", "went.title", before.read, _went, looks=_WENT)
# What this run changed on hosts, task by task; none where nobody listened (docs/run.md tells how to).
changes = _told("changes", "changes.title", compared.changes, _changes)
# The stack that was planned for each class of hosts, and why; none where the run planned nothing.
plan = _told("plan", "plan.title", planned.read, lambda found, t: (t("plan.says", n=len(found.classes)), False))
# The waivers of the site: used, not used and expired.
waivers = _told("waivers", "waivers.title", planned.waivers, _waivers)
# What bench.yml measured, of its own date; none where nobody ever did.
benchmarks = _told("benchmarks", "benchmarks.title", measured.read, _benchmarks)
# Who reached whom: how many did, and every way that is not well or was not tried.
rdma = _told("rdma", "rdma.title", reach.rdma, _reach("rdma.counts"), "reach", over="rdma", counts="rdma.counts")
tcp = _told("tcp", "tcp.title", reach.tcp, _reach("tcp.counts"), "reach", over="tcp", counts="tcp.counts")
# Port error counters as a heat map, by powers of ten: hosts with any, by port; none for a run without hosts.
counters = _told("counters", "counters.title", _counters, _heat, shades=range(1, counted.SHADES))
# The NVLinks of every class of equal hosts: GPUs by links, and what differs on which host.
nvlink = _told("nvlink", "nvlink.title", _nvlinks, _links, legend=_LEGEND)
# The versions of the stack: how many hosts have each, and which have another; none where nobody told of any.
stack = _told("stack", "stack.title", lambda run: installed.read(run) or None, _stack, looks=_LOOKS)
