# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a fabric has one master, the standbys that it should have, and clear priorities."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._data.opensm import START_NO_OTHER
from ...module_utils._expect.expectations import CAPABILITY, INVENTORY
from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._parse.saquery_sm import MASTER, STANDBY, STATES, Manager
from ...module_utils._parse.sminfo import Sminfo
from .model import Fabric, guid
from .read import Seen, why_not

ONE_MASTER = "fabric.sm.master"
STANDBYS = "fabric.sm.standby"
PRIORITY = "fabric.sm.priority"
_SILENT = ("failed: query", "query failed", "timed out", "timeout")


def judge(fabric: Fabric, looks: Sequence[Seen], standbys: int | None) -> list[Check]:
    """``standbys``: how many the inventory expects; None where it says nothing."""
    managers = _managers(looks)
    return [
        _one_master(fabric, looks, managers),
        _standbys(fabric, looks, managers, standbys),
        *_priorities(fabric, looks, managers),
    ]


def guids(looks: Sequence[Seen]) -> set[str]:
    """The port GUIDs of every subnet manager that was heard of."""
    heard = {entry.guid for look in looks for entry in [_sm(look)] if entry is not None}
    return {guid(manager) for manager in (*_managers(looks), *heard)}


def _managers(looks: Sequence[Seen]) -> dict[str, Manager]:
    """By GUID, as the master's records have them; of several masters, those of all."""
    found: dict[str, Manager] = {}
    for look in looks:
        reported = look.managers.value
        for manager in reported.facts.managers if reported is not None and reported.facts is not None else ():
            if manager.guid not in found or manager.state == MASTER:
                found[manager.guid] = manager
    return found


def _one_master(fabric: Fabric, looks: Sequence[Seen], managers: dict[str, Manager]) -> Check:
    masters = {guid(manager.guid) for manager in managers.values() if manager.state == MASTER}
    answered = [sm for sm in map(_sm, looks) if sm is not None]
    masters |= {guid(sm.guid) for sm in answered if sm.state in (MASTER, None)}
    if len(masters) > 1:
        names = ", ".join(_named(fabric, master) for master in sorted(masters))
        cause = f"{names} both call themselves master: they do not hear each other"
        seen, remedy = f"{len(masters)} masters", f"{START_NO_OTHER}; leave one, or mend the way between them"
        return failed(ONE_MASTER, fabric.name, seen, "one", CAPABILITY, cause=cause, remedy=remedy)
    if masters:
        seen = _named(fabric, masters.pop())
        return passed(ONE_MASTER, fabric.name, seen, "one master", CAPABILITY)
    if answered:
        named = _named(fabric, guid(answered[0].guid))
        cause = f"{named} is {answered[0].state_name}: no master took over"
        return failed(ONE_MASTER, fabric.name, "no master", "one", CAPABILITY, cause=cause, remedy=START_NO_OTHER)
    if any(nobody(look) for look in looks):
        return failed(ONE_MASTER, fabric.name, "nobody answered", "one master", CAPABILITY)
    return unknown(ONE_MASTER, fabric.name, f"sminfo: {why_not(looks[0].sm)}")


def _standbys(fabric: Fabric, looks: Sequence[Seen], managers: dict[str, Manager], wanted: int | None) -> Check:
    why = _records_missing(looks)
    found = [manager for manager in managers.values() if manager.state == STANDBY]
    seen = f"{len(found)} standby" + (f" ({_list(fabric, found)})" if found else "")
    if wanted is None:
        reported = seen if managers else "nobody told of any"
        why_not_asked = f"the inventory does not say how many (ibready_fabric_standbys): {reported}"
        return skipped(STANDBYS, fabric.name, why_not_asked)
    if why:
        return unknown(STANDBYS, fabric.name, why)
    if len(found) < wanted:
        return failed(STANDBYS, fabric.name, seen, str(wanted), INVENTORY)
    return passed(STANDBYS, fabric.name, seen, f"at least {wanted}", INVENTORY)


def _priorities(fabric: Fabric, looks: Sequence[Seen], managers: dict[str, Manager]) -> list[Check]:
    why = _records_missing(looks)
    if why:
        return [unknown(PRIORITY, fabric.name, why)]
    alive = [manager for manager in managers.values() if manager.state in (STANDBY, MASTER)]
    if len(alive) < 2:
        return [skipped(PRIORITY, fabric.name, "only one subnet manager: it has no rival")]
    reported = _list(fabric, alive)
    equal = sorted({entry.priority for entry in alive}, reverse=True)
    for priority in equal:
        same = [entry for entry in alive if entry.priority == priority]
        if len(same) > 1:
            cause = (
                f"{_list(fabric, same)} have the same priority: the lower GUID wins, and a master "
                "that comes back takes the fabric over again"
            )
            return [failed(PRIORITY, fabric.name, reported, "a priority each", CAPABILITY, cause=cause)]
    return [passed(PRIORITY, fabric.name, reported, "a priority each", CAPABILITY)]


def _records_missing(looks: Sequence[Seen]) -> str:
    """Why the master's records, or some of them, are not known."""
    reported = looks[0].managers.value
    why = why_not(looks[0].managers) or (reported.incomplete if reported is not None else "")
    return f"saquery: {why}" if why else ""


def nobody(look: Seen) -> bool:
    """Whether sminfo asked and nobody answered; any other complaint means that it could not."""
    reported = look.sm.value
    return reported is not None and any(word in line.lower() for line in reported.errors for word in _SILENT)


def _sm(look: Seen) -> Sminfo | None:
    return look.sm.value.facts if look.sm.value is not None else None


def _list(fabric: Fabric, managers: Sequence[Manager]) -> str:
    return ", ".join(
        f"{_named(fabric, guid(manager.guid))} {STATES[manager.state]} priority {manager.priority}"
        for manager in managers
    )


def _named(fabric: Fabric, port_guid: str) -> str:
    return fabric.node_name(fabric.ports.get(port_guid, port_guid))
