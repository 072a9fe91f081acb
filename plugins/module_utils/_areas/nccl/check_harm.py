# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge settings that switch off what a host has."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping

from ..._data import gpudirect, nccl_harm
from ..._data.nccl_harm import DETOURS, HARMS, Harm
from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import CAPABILITY
from ..._expect.nccl_policy import NcclPolicy
from ..._ground.check import FAIL, Check, failed, passed, unknown
from ..._ground.reading import Reading
from ..._nccl import derive_rails
from ..._nccl.derive import derive
from ..._nccl.derive_roce import INDEX
from ..._nccl.fleet import node_gids
from ..._nccl.host import NcclHost
from ..._nccl.problem import short
from ..._parse import strtoll
from ..._parse.nccl_copies import ConfFile, Setting as Set
from . import harm_lists
from .facts import HostFacts

_HARM = "nccl.conf.harm"
_ENVIRONMENT = "environment"
_ROOT = "root"
_EXPECTED = "nothing that switches off what the host has"
_NONE = NcclPolicy()


def judge(here: HostFacts) -> Iterator[Check]:
    """nccl.conf.harm, by setting; what the inventory asks for is its word."""
    settings = here.settings.value
    if settings is None:
        yield unknown(_HARM, SYSTEM_FILE, here.settings.why or "nobody looked at the settings")
        return
    found = [*of_settings(settings, here.host, here.wish.policy), *_for_all(here), *_of_lists(here, settings)]
    yield from found
    unread = [place.why for place in _places(here) if place.value is None and not place.missing]
    if unread:
        yield unknown(_HARM, _ENVIRONMENT, unread[0] or "nobody searched")
    elif not found:
        yield passed(_HARM, SYSTEM_FILE, "no such setting", _EXPECTED, CAPABILITY)


def _places(here: HostFacts) -> tuple[Reading[tuple[Set, ...]], ...]:
    """Where the environment of every job may be set; missing where a host has no such place."""
    return here.copies.settings, here.copies.units


def _for_all(here: HostFacts) -> Iterator[Check]:
    """What files and units set for every job: it goes before nccl.conf. A user's own file is of that user's jobs."""
    places = _places(here)
    others = {conf.path for conf in here.copies.confs.value or () if _of_a_user(conf)}
    for place in (*(places[0].value or ()), *(places[1].value or ())):
        for check in of_environment({place.name: place.value}, here.host, here.wish.policy):
            where = f"{short(place.place)}{f':{place.line}' if place.line else ''}"
            remedy = f"take it out of {where}; new logins and restarted services do without"
            severity = "warning" if place.place in others else check.severity
            told = replace(check, subject=where, observed=f"{check.observed}, in {where}", severity=severity)
            yield replace(told, remedy=remedy) if check.result == FAIL else told


def _of_lists(here: HostFacts, settings: Mapping[str, str]) -> Iterator[Check]:
    """The lists in nccl.conf that nccl.conf.derived does not judge, the inventory's own word among them: an HCA
    that is not there is none for anybody."""
    policy = here.wish.policy
    told = {setting.name for setting in derive(here.host, policy, None).settings} - set(policy.variables)
    for harm in harm_lists.harmed(settings, here.host, policy):
        part = isinstance(harm, harm_lists.Harmed) and harm.part
        if isinstance(harm, harm_lists.Unread) or harm.name in policy.variables or not (part or harm.name in told):
            check = _of_list(harm)
            # Who leaves a rail out by name may mean it.
            yield replace(check, severity="warning") if part else check


def _of_list(harm: harm_lists.Harmed | harm_lists.Unread) -> Check:
    if isinstance(harm, harm_lists.Unread):
        return unknown(_HARM, harm.name, harm.why, observed=harm.observed)
    return _failed(harm.name, harm.observed, harm.cause)


def _of_a_user(conf: ConfFile) -> bool:
    """Whether only one user's jobs read the file; the file of NCCL_CONF_FILE has in ``who`` what names it."""
    return conf.who != _ROOT and not conf.who.startswith("/")


def harmful(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> list[str]:
    """The names of those settings that surely harm this host."""
    return [of_setting.subject for of_setting in of_settings(settings, host, policy) if of_setting.result == FAIL]


def of_environment(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy = _NONE) -> Iterator[Check]:
    """What goes before nccl.conf: nobody's word in the inventory. ``policy``: of the site's rails."""
    yield from of_settings(settings, host, _NONE)
    for harm in harm_lists.harmed(settings, host, policy):
        yield _of_list(harm)


def of_settings(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> Iterator[Check]:
    mine = {name: setting for name, setting in settings.items() if name not in policy.variables}
    for harm in HARMS:
        if harm.name in mine and _is(harm, mine[harm.name]):
            yield from _judged(harm, mine[harm.name], host, policy)
    if INDEX in mine:
        yield from _index(mine[INDEX], host, policy)


def of_nobody(settings: Mapping[str, str]) -> Iterator[Check]:
    """What takes every HCA from a job, on a host of which nothing is known; a warning, for it may have none."""
    for harm in HARMS:
        if harm.needs == nccl_harm.RAILS and harm.name in settings and _is(harm, settings[harm.name]):
            check = _failed(harm.name, f"{harm.name}={short(settings[harm.name])}", harm.means)
            yield replace(check, severity="warning", remedy="take the line out, where hosts have HCAs")


def _is(harm: Harm, value: str) -> bool:
    if harm.when == nccl_harm.WORD:
        return value.lower() in harm.words
    return _WHEN[harm.when](strtoll.number(value).value)


_WHEN: dict[str, Callable[[int | None], bool]] = {
    nccl_harm.ON: lambda number: number not in (None, 0),
    nccl_harm.OFF: lambda number: number == 0,
    nccl_harm.ONE: lambda number: number == 1,
}


def detours(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> Iterator[Harm]:
    """Those of DETOURS that are set, and that the inventory does not ask for."""
    for detour in DETOURS:
        value = None if detour.name in policy.variables else settings.get(detour.name)
        if value is not None and _is(detour, value) and _needed(detour, host, policy).value is not False:
            yield detour


def _judged(harm: Harm, value: str, host: NcclHost, policy: NcclPolicy) -> Iterator[Check]:
    need = _needed(harm, host, policy)
    observed = f"{harm.name}={short(value)}"
    if need.value is None:
        yield unknown(_HARM, harm.name, need.why or "nobody looked", observed=observed)
    elif need.value:
        yield _failed(harm.name, observed, harm.means)


def _failed(name: str, observed: str, cause: str) -> Check:
    return failed(_HARM, name, observed, _EXPECTED, CAPABILITY, cause=cause, remedy="take the line out")


def _needed(harm: Harm, host: NcclHost, policy: NcclPolicy) -> Reading[bool]:
    """Whether the host has what the setting switches off."""
    if harm.needs == nccl_harm.RAILS:
        rails = derive_rails.rails(host, policy)
        return Reading(None, rails.why) if rails.why else Reading(bool(rails.ports))
    if harm.needs == nccl_harm.RACK:
        return Reading(host.rack) if host.rack is not None else Reading(None, host.gpus.why)
    if harm.needs == nccl_harm.GPUS:
        return host.gpus.map(lambda found: len(found) > 1)
    if host.gpudirect.clients.value:
        return Reading(False)
    return host.gpudirect.dmabuf.map(lambda _why: host.gpudirect.working == (gpudirect.DMABUF,))


def _index(value: str, host: NcclHost, policy: NcclPolicy) -> Iterator[Check]:
    """An index at which some rail has no address that RoCE v2 routes."""
    mine = node_gids(derive_rails.rails(host, policy).ports, host)
    if mine is None:
        return
    observed = f"{INDEX}={short(value)}"
    number = strtoll.number(value).value
    right = any(number in index for index in mine.indexes.values())
    if mine.unknown:
        yield unknown(_HARM, INDEX, mine.unknown, observed=observed)
    elif number is not None and number >= 0 and not right:
        yield _failed(INDEX, observed, "at this index not every rail has an address that RoCE v2 routes")
