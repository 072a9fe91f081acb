# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every cable is where a plan says: the wrong, missing, extra and swapped ones by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...module_utils._expect.expectations import INVENTORY
from ...module_utils._ground.check import Check, failed, skipped
from .model import End, Fabric, Hca, Inventory
from .plan import Place, Planned
from .say import settled

MISSING = "fabric.cabling.missing"
WRONG = "fabric.cabling.place"
SWAPPED = "fabric.cabling.swapped"
EXTRA = "fabric.cabling.extra"
SWITCH = "fabric.switch.present"
PLAN_CHECKS = (MISSING, WRONG, SWAPPED, EXTRA, SWITCH)
# With fewer planned cables a device that is gone is told by its cables.
_WHOLE = 2


@dataclass
class Compared:
    """``bad``: cables of the fabric that are not where they should be, and why."""

    missing: list[Planned] = field(default_factory=list)
    gone: dict[str, list[Planned]] = field(default_factory=dict)
    wrong: list[tuple[Planned, str]] = field(default_factory=list)
    swapped: list[tuple[Planned, Planned]] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    bad: dict[End, str] = field(default_factory=dict)


class Names:
    """Which port of the fabrics a plan means by a GUID, by a name, or by a host and its HCA."""

    def __init__(self, fabrics: Sequence[Fabric], inventory: Inventory) -> None:
        self.far = {end: far for fabric in fabrics for end, far in fabric.far.items()}
        self.of = {end: fabric for fabric in fabrics for end in fabric.far}
        self.nodes = {guid for fabric in fabrics for guid in fabric.nodes}
        self._ports = {port: node for fabric in fabrics for port, node in fabric.ports.items()}
        self._names: dict[str, str] = {}
        for fabric in fabrics:
            for node in fabric.nodes.values():
                # Two of one name: the plan has to use GUIDs.
                known = self._names.get(node.name.lower())
                self._names[node.name.lower()] = node.guid if known is None else ""
        for hca in inventory.rails:
            device = hca.name.rpartition("/")[0]
            self._names[f"{hca.host} {device}".lower()] = hca.node_guid

    def end(self, place: Place) -> End:
        """The end; of what is not on the fabric, one that nothing is plugged into."""
        if place.guid:
            return End(self._ports.get(place.guid, place.guid), place.port)
        found = self._names.get(place.name.lower())
        return End(found or f"no such node: {place.name}", place.port)

    def name(self, end: End) -> str:
        fabric = self.of.get(end)
        return fabric.end_name(end) if fabric is not None else f"{end.guid}/{end.port}"


def compare(plan: Sequence[Planned], names: Names) -> Compared:
    """Every planned cable, and every real one, once."""
    found = Compared()
    ends = {(names.end(cable.one), names.end(cable.other)): cable for cable in plan}
    planned: dict[End, tuple[End, Planned]] = {}
    for (entry, other), cable in ends.items():
        planned[entry], planned[other] = (other, cable), (entry, cable)
    absent: dict[str, list[Planned]] = {}
    swapped: set[Planned] = set()
    for (item, other), cable in ends.items():
        if names.far.get(item) == other or cable in swapped:
            continue
        pair = _swapped_with(item, other, planned, names)
        if pair is not None:
            found.swapped.append((cable, pair))
            swapped.update((cable, pair))
            for end in (item, other):
                found.bad[end] = "swapped with another cable"
                found.bad[names.far[end]] = "swapped with another cable"
        elif item in names.far or other in names.far:
            found.wrong.append((cable, _instead(cable, item, other, names)))
            for end in (item, other):
                if end in names.far:
                    found.bad[end] = found.bad[names.far[end]] = "not where the plan has it"
        else:
            found.missing.append(cable)
            for end, place in ((item, cable.one), (other, cable.other)):
                if end.guid not in names.nodes:
                    absent.setdefault(place.name, []).append(cable)
    _whole_switches(found, absent, plan)
    for end, far in names.far.items():
        if end < far and end not in planned and far not in planned:
            found.extra.append(f"{names.name(end)} - {names.name(far)}")
            found.bad[end] = found.bad[far] = "in no plan"
    return found


def _whole_switches(found: Compared, absent: Mapping[str, list[Planned]], plan: Sequence[Planned]) -> None:
    """A device of which every cable is missing is one cause, not as many as it has cables."""
    counts: dict[str, int] = {}
    for cable in plan:
        for place in (cable.one, cable.other):
            counts[place.name] = counts.get(place.name, 0) + 1
    for name, cables in absent.items():
        if len(cables) == counts[name] >= _WHOLE:
            found.gone[name] = cables
    folded = {cable for cables in found.gone.values() for cable in cables}
    found.missing = [cable for cable in found.missing if cable not in folded]


def _swapped_with(end: End, other: End, planned: Mapping[End, tuple[End, Planned]], names: Names) -> Planned | None:
    """The cable x - y where one - other and it are plugged as one - y and x - other."""
    here, there = names.far.get(end), names.far.get(other)
    if here is None or there is None or here not in planned or there not in planned:
        return None
    if planned[here][0] != there:
        return None
    return planned[here][1]


def _instead(cable: Planned, entry: End, other: End, names: Names) -> str:
    reported = []
    for place, end in ((cable.one, entry), (cable.other, other)):
        far = names.far.get(end)
        what = f"leads to {names.name(far)}" if far is not None else "has no link"
        reported.append(f"{place} {what}")
    return ", ".join(reported)


def planned_ends(plan: Sequence[Planned], inventory: Inventory, names: Names) -> dict[Hca, str]:
    """Where the plan sees the other end of every inventory HCA's cable."""
    by_end: dict[End, Hca] = {}
    for hca in inventory.rails:
        by_end[End(hca.node_guid, int(hca.name.rpartition("/")[2]))] = hca
    found = {}
    for cable in plan:
        for place, other in ((cable.one, cable.other), (cable.other, cable.one)):
            end = names.end(place)
            if end in by_end:
                found[by_end[end]] = str(other)
    return found


def judge(plan: Sequence[Planned] | None, found: Compared, partial: str, why: str) -> list[Check]:
    """Every check of PLAN_CHECKS. ``why``: there is no plan that could be used (``plan`` None)."""
    subject = "cabling"
    if plan is None:
        return [skipped(plan_check, subject, why) for plan_check in PLAN_CHECKS]
    missing = [
        failed(MISSING, f"{cable.one} - {cable.other}", "no link", _said(cable), INVENTORY) for cable in found.missing
    ]
    switches = [
        failed(
            *(SWITCH, name, "not on the fabric", f"{len(cables)} cables", INVENTORY),
            cause=f"{name} is off, dead, or cut off: all its {len(cables)} cables are missing",
        )
        for name, cables in found.gone.items()
    ]
    wrong = [
        failed(WRONG, f"{cable.one} - {cable.other}", instead, _said(cable), INVENTORY)
        for cable, instead in found.wrong
    ]
    swapped = [
        failed(
            *(SWAPPED, f"{entry.one} - {entry.other} and {two.one} - {two.other}"),
            *("swapped", f"{_said(entry)}, {_said(two)}", INVENTORY),
        )
        for entry, two in found.swapped
    ]
    extra = [failed(EXTRA, name, "plugged in", "not in the plan", INVENTORY) for name in found.extra]
    total = f"{len(plan)} cables"
    return [
        check
        for check_id, bad, of_absence in (
            (MISSING, missing, True),
            (SWITCH, switches, True),
            (WRONG, wrong, False),
            (SWAPPED, swapped, False),
            (EXTRA, extra, False),
        )
        for check in settled(
            *(check_id, subject, bad, total, "as planned"),
            partial=partial,
            of_absence=of_absence,
            source=INVENTORY,
        )
    ]


def _said(cable: Planned) -> str:
    line = f" (line {cable.line})" if cable.line else ""
    return f"{cable.one} - {cable.other}{line}"
