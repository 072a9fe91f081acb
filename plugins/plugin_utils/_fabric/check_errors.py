# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the error counters of any port rise: two looks, some seconds apart."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.fabric_counters import (
    COUNTERS as WIDTHS,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import (
    COUNTERS,
    Counter,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibqueryerrors import (
    ALL,
    Ibqueryerrors,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    End,
    Fabric,
    guid,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.read import Seen, why_not
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.say import settled

ERRORS = "fabric.cable.errors"
SATURATED = "fabric.counters.saturated"
_BY_NAME: dict[str, Counter] = {name: one for one in COUNTERS for name in one.names}
NAMES = {one.name: one.names for one in COUNTERS}
_Values = dict[str, int]


def judge(fabric: Fabric, seen: Seen, cut: str) -> list[Check]:
    """What rose between the looks, and what cannot rise any more. ``cut``: why not all was seen."""
    why = why_not(seen.counters) or why_not(seen.again)
    first, later = seen.counters.value, seen.again.value
    if why or first is None or later is None or first.facts is None or later.facts is None:
        return [unknown(one, fabric.name, why) for one in (ERRORS, SATURATED)]
    partial = cut
    before, after = by_port(fabric, first.facts), by_port(fabric, later.facts)
    total = f"{later.facts.ports_checked} ports"
    cleared = [
        end
        for end, values in before.items()
        if any(after.get(end, {}).get(name, 0) < value for name, value in values.items())
    ]
    if cleared and not partial:
        partial = f"counters of {fabric.end_name(cleared[0])} went down: somebody cleared them"
    risen = list(_risen(fabric, before, after, max(seen.seconds, 0.001)))
    shown = f"{total}, none rose in {seen.seconds:.1f} s"
    full = list(_full(fabric, after, later.facts))
    return [
        *settled(ERRORS, fabric.name, risen, shown, "no error counter rises", partial=partial),
        *settled(
            *(SATURATED, fabric.name, full, total, "below the highest value"), partial=partial
        ),
    ]


def by_port(fabric: Fabric, report: Ibqueryerrors) -> dict[End, _Values]:
    """Counters above 0 by port; a port that is not in it has none."""
    found: dict[End, _Values] = {}
    for node in report.nodes:
        for port in node.ports:
            if port.port != ALL:
                owner = fabric.ports.get(guid(port.guid), guid(port.guid))
                found[End(owner, int(port.port))] = port.counters
    return found


def _risen(
    fabric: Fabric, before: dict[End, _Values], after: dict[End, _Values], seconds: float
) -> Iterator[Check]:
    for end, values in after.items():
        worst, told = "", []
        for name, value in values.items():
            counter = _BY_NAME.get(name)
            rise = value - before.get(end, {}).get(name, 0)
            if counter is None or rise < counter.at_least:
                continue
            if rise * 3600 > counter.per_hour * seconds:
                told.append(f"{name} +{rise}")
                worst = worst or f"{name}: {counter.means}"
        if told:
            far = fabric.far.get(end)
            other = f"; the other end is {fabric.end_name(far)}" if far else ""
            yield failed(
                ERRORS,
                fabric.end_name(end),
                f"{', '.join(told)} in {seconds:.1f} s",
                "no error counter rises",
                CAPABILITY,
                cause=f"{worst}{other}",
            )


def _full(fabric: Fabric, after: dict[End, _Values], report: Ibqueryerrors) -> Iterator[Check]:
    wide = {
        (End(fabric.ports.get(guid(port.guid), guid(port.guid)), int(port.port)), name)
        for node in report.nodes
        for port in node.ports
        if port.port != ALL
        for name in port.wide
    }
    for end, values in after.items():
        full = [
            f"{name} {value}"
            for name, value in values.items()
            if name in WIDTHS
            and WIDTHS[name].check
            and value == (1 << (64 if (end, name) in wide else WIDTHS[name].bits)) - 1
        ]
        if full:
            yield failed(
                *(SATURATED, fabric.end_name(end), ", ".join(full)),
                *("below the highest value", CAPABILITY),
            )
