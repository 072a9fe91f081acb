# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the error counters of any port rise: two looks, some seconds apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...module_utils._data.fabric_counters import COUNTERS as WIDTHS, DAMAGE
from ...module_utils._data.ib_counters import COUNTERS, LINK_DOWNED, QUERIED, Counter
from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.check import Check, failed, unknown
from ...module_utils._parse.ibqueryerrors import ALL, Ibqueryerrors
from .model import LEAF, End, Fabric, Inventory, guid
from .read import Seen, why_not
from .say import settled

ERRORS = "fabric.cable.errors"
SATURATED = "fabric.counters.saturated"
NAMES = {counter.name: counter.names for counter in COUNTERS}
_Values = dict[str, int]
_CAN_RISE = "a counter of damage that can rise"


def judge(fabric: Fabric, seen: Seen, cut: str) -> list[Check]:
    """What rose between the looks, and what cannot rise any more. ``cut``: why not all was seen."""
    why = why_not(seen.counters) or why_not(seen.again)
    first, later = seen.counters.value, seen.again.value
    if why or first is None or later is None or first.facts is None or later.facts is None:
        return [unknown(entry, fabric.name, why) for entry in (ERRORS, SATURATED)]
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
    # A first look of which a part is missing may have left out what it does not tell: that did not rise from 0.
    comparable = _told_twice(before, after) if first.incomplete else after
    risen = list(_risen(fabric, before, comparable, max(seen.seconds, 0.001)))
    shown = f"{total}, none rose in {seen.seconds:.1f} s"
    full = list(_full(fabric, after, later.facts))
    return [
        *settled(ERRORS, fabric.name, risen, shown, "no error counter rises", partial=partial),
        *settled(*(SATURATED, fabric.name, full, total, _CAN_RISE), partial=partial),
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


def _told_twice(before: dict[End, _Values], after: dict[End, _Values]) -> dict[End, _Values]:
    return {
        end: {name: value for name, value in values.items() if name in before.get(end, {})}
        for end, values in after.items()
    }


def _risen(fabric: Fabric, before: dict[End, _Values], after: dict[End, _Values], seconds: float) -> Iterator[Check]:
    for end, values in after.items():
        risen: dict[str, Counter] = {}
        reported: list[str] = []
        for name, value in values.items():
            counter = QUERIED.get(name)
            rise = value - before.get(end, {}).get(name, 0)
            if counter is None or rise < counter.at_least:
                continue
            if rise * 3600 > counter.per_hour * seconds:
                reported.append(f"{name} +{rise}")
                risen[name] = counter
        if risen:
            worst = min(risen, key=lambda name: bool(risen[name].remedy))
            far = fabric.far.get(end)
            other = f"; the other end is {fabric.end_name(far)}" if far else ""
            yield failed(
                ERRORS,
                fabric.end_name(end),
                f"{', '.join(reported)} in {seconds:.1f} s",
                "no error counter rises",
                CAPABILITY,
                cause=f"{worst}: {risen[worst].says}{other}",
                remedy=risen[worst].remedy,
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
            f"{name} {values[name]}"
            for name in DAMAGE
            if values.get(name) == (1 << (64 if (end, name) in wide else WIDTHS[name].bits)) - 1
        ]
        # One that is full and stands still is history: the other would tell of new damage.
        if len(full) == len(DAMAGE):
            yield failed(SATURATED, fabric.end_name(end), ", ".join(full), _CAN_RISE, CAPABILITY)


def uplinks_lost(fabric: Fabric, look: Seen, inventory: Inventory) -> dict[str, int]:
    """How many of each leaf; none where missing HCAs account for them, or those of hosts that told
    nothing may.

    A port that is nearer to those of adapters was a host's that is in no inventory any more.
    """
    reported = look.again.value
    here = set(fabric.hcas.values())
    if reported is None or reported.facts is None or inventory.silent:
        return {}
    if any(rail not in here for rail in inventory.rails):
        return {}
    downs = NAMES[LINK_DOWNED]
    up: dict[str, list[int]] = {leaf.guid: [] for leaf in fabric.switches(LEAF)}
    down: dict[str, list[int]] = {leaf: [] for leaf in up}
    for end, far in fabric.far.items():
        if end.guid in up:
            (up if fabric.nodes[far.guid].level else down)[end.guid].append(end.port)
    found: dict[str, int] = {}
    for end, values in by_port(fabric, reported.facts).items():
        line = fabric.lines.get(end)
        was_up = any(values.get(name) for name in downs)
        if end.guid not in up or not was_up or line is None or line.state != "Down":
            continue
        if not _of_adapters(end, up[end.guid], down[end.guid]):
            found[end.guid] = found.get(end.guid, 0) + 1
    return found


def _of_adapters(end: End, up: Sequence[int], down: Sequence[int]) -> bool:
    return bool(up and down) and _away(end, down) < _away(end, up)


def _away(end: End, ports: Sequence[int]) -> int:
    return min(abs(port - end.port) for port in ports)
