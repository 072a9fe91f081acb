# SPDX-License-Identifier: GPL-3.0-or-later
"""report["fabric"]: every fabric of a run, judged, with the site's waivers; no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...module_utils._expect import waivers as _waivers
from ...module_utils._fleet.ping import Ping
from ...module_utils._ground.check import Check, from_dict, verdict
from .._answers import apart
from .._hosts import hosts as _hosts
from . import gather, judge, read
from .model import Inventory
from .read import Seen

# The name by which a waiver means a fabric as a whole.
FABRIC = "fabric"
_LEFT_OUT = "it took no part in this run"


@dataclass(frozen=True)
class Query:
    """What a run has of its fabrics. ``error``: why somebody could not ask, or be understood.

    ``inventory``: all hosts that there are, those that a --limit left out as well. ``lot``: by which those who asked
    were drawn, None where they were not.
    """

    looks: Sequence[Seen] = ()
    wishes: judge.DesiredSettings = field(default_factory=judge.DesiredSettings)
    known: Sequence[str] = ()
    error: str = ""
    inventory: Sequence[str] = ()
    lot: int | None = None


def asked(
    hostvars: Mapping[str, Any],
    names: Sequence[str],
    inventory: Sequence[str] = (),
    cabling: str | None = None,
) -> Query | None:
    """Read the variables of the named hosts; None where the run did not ask.

    ``cabling``: the file of a plan that takes the place of the site's.
    """
    reported = {name: hostvars.get(name, {}) for name in names}
    results = {name: entry.get("ibready_fabric_looks") for name, entry in reported.items()}
    errors = [
        f"{name}: {entry['ibready_fabric_error']}"
        for name, entry in reported.items()
        if entry.get("ibready_fabric_error")
    ]
    planned = next((entry["ibready_fabric_asks"] for entry in reported.values() if _plans(entry)), None)
    if planned is None and not errors:
        return None
    site: Mapping[str, Any] = next(iter(reported.values()), {})
    seen: list[Seen] = []
    desired_settings = judge.DesiredSettings()
    known: Sequence[str] = ()
    try:
        desired_settings, known = gather.wishes(site, cabling), gather.known(site)
        if desired_settings.topology is not None:
            desired_settings = replace(desired_settings, called=gather.called(hostvars, sorted({*names, *inventory})))
    except gather.FabricError as exc:
        errors.append(str(exc))
    for name in planned or ():
        result = results.get(name)
        if isinstance(result, Mapping) and "looks" in result:
            try:
                seen += gather.looks(name, result)
            except gather.FabricError as exc:
                errors.append(str(exc))
        elif not any(error.startswith(f"{name}: ") for error in errors):
            said = result.get("msg") if isinstance(result, Mapping) else ""
            errors.append(f"{name}: {said or 'it was to ask the fabric and did not'}")
    lot = next((int(entry["ibready_fabric_lot"]) for entry in reported.values() if "ibready_fabric_lot" in entry), None)
    return Query(seen, desired_settings, known, "; ".join(errors), tuple(inventory), lot)


def _plans(seen: Mapping[str, Any]) -> bool:
    return isinstance(seen.get("ibready_fabric_asks"), Mapping)


def judged(
    hosts: Sequence[_hosts.Host], told: Query, today: datetime.date, pings: Sequence[Ping] = ()
) -> tuple[dict[str, Any], dict[str, list[Check]]]:
    """The object, and the checks of single hosts (without waivers). ``pings``: what was answered by whom."""
    whole = replace(inventory(hosts, told), heard=_heard(pings))
    found = apart.together(told.looks, lambda looks: judge.judge(looks, whole, told.wishes), read.unusable)
    error, skipped = told.error, ""
    if not told.looks and not error:
        if whole.rails or whole.silent:
            error = "no InfiniBand port of any host has a link, so nobody could ask"
        else:
            skipped = "no host has an InfiniBand rail"
    waivers = {host.name: host.waivers for host in hosts}
    fabrics = [_waived(fabric, waivers, today) for fabric in found.fabrics]
    lot = {} if told.lot is None else {"lot": told.lot}
    return {"fabrics": fabrics, "error": error, "skipped": skipped, **lot}, found.hosts


def _heard(pings: Sequence[Ping]) -> dict[tuple[str, str], set[str]]:
    """By host and port, who says that pings with it were answered."""
    heard: dict[tuple[str, str], set[str]] = {}
    for ping in pings:
        if ping.received:
            for host in (ping.client, ping.server):
                heard.setdefault((host, ping.rail), set()).add(ping.client)
    return heard


def inventory(hosts: Sequence[_hosts.Host], told: Query) -> Inventory:
    """Whose HCAs are whose; hosts that a --limit left out told nothing. Without any rail nothing is known."""
    mine = gather.inventory(hosts, told.known)
    left = {*told.inventory} - {host.name for host in hosts} if mine.rails else set()
    return replace(mine, silent={**mine.silent, **dict.fromkeys(sorted(left), _LEFT_OUT)})


def _waived(
    fabric: dict[str, Any],
    waivers: Mapping[str, Sequence[_waivers.Waiver]],
    today: datetime.date,
) -> dict[str, Any]:
    """The same with waivers: of ``fabric`` for all, of a host for what is told of it."""
    site = list(dict.fromkeys(waiver for mine in waivers.values() for waiver in mine))
    checks = []
    for check in _waivers.apply(map(from_dict, fabric["checks"]), site, FABRIC, today):
        host, _blank, rest = check.subject.partition(" ")
        if host in waivers and not check.waived:
            own = replace(check, subject=rest or "host")
            marked = _waivers.apply([own], waivers[host], host, today)[0]
            checks.append(replace(marked, subject=check.subject))
        else:
            checks.append(check)
    return {
        **fabric,
        "verdict": verdict(checks),
        "checks": [check.to_dict() for check in checks],
    }
