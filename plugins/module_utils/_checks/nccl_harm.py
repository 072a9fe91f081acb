# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge settings that switch off what a host has."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    Check,
    failed,
    passed,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import gpudirect, nccl_harm
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_harm import (
    DETOURS,
    HARMS,
    Harm,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nccl import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import derive_rails, values
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import INDEX
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import node_gids
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import short
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nccl_copies import (
    Setting as Set,
)

_HARM = "nccl.conf.harm"
_ENVIRONMENT = "environment"
_EXPECTED = "nothing that switches off what the host has"


def judge(here: HostFacts) -> Iterator[Check]:
    """nccl.conf.harm, by setting; what the inventory asks for is its word."""
    settings = here.settings.value
    if settings is None:
        yield unknown(_HARM, SYSTEM_FILE, here.settings.why or "nobody looked at the settings")
        return
    found = [*of_settings(settings, here.host, here.wish.policy), *_for_all(here)]
    yield from found
    unread = [one.why for one in _places(here) if one.value is None and not one.missing]
    if unread:
        yield unknown(_HARM, _ENVIRONMENT, unread[0] or "nobody searched")
    elif not found:
        yield passed(_HARM, SYSTEM_FILE, "no such setting", _EXPECTED, CAPABILITY)


def _places(here: HostFacts) -> tuple[Reading[tuple[Set, ...]], ...]:
    """Where the environment of every job may be set; missing where a host has no such place."""
    return here.copies.settings, here.copies.units


def _for_all(here: HostFacts) -> Iterator[Check]:
    """What files and units set for every job: it goes before nccl.conf."""
    places = _places(here)
    for one in (*(places[0].value or ()), *(places[1].value or ())):
        for check in of_settings({one.name: one.value}, here.host, NcclPolicy()):
            where = f"{short(one.place)}{f':{one.line}' if one.line else ''}"
            remedy = f"take it out of {where}; new logins and restarted services do without"
            told = f"{check.observed}, in {where}"
            yield replace(check, subject=where, observed=told, remedy=remedy)


def harmful(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> list[str]:
    """The names of those settings that surely harm this host."""
    return [one.subject for one in of_settings(settings, host, policy) if one.result == FAIL]


def of_settings(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> Iterator[Check]:
    mine = {name: one for name, one in settings.items() if name not in policy.variables}
    for one in HARMS:
        if one.name in mine and _is(one, mine[one.name]):
            yield from _judged(one, mine[one.name], host, policy)
    if INDEX in mine:
        yield from _index(mine[INDEX], host, policy)


def _is(one: Harm, value: str) -> bool:
    if one.when == nccl_harm.WORD:
        return value.lower() in one.words
    return _WHEN[one.when](values.number(value).value)


_WHEN: dict[str, Callable[[int | None], bool]] = {
    nccl_harm.ON: lambda number: number not in (None, 0),
    nccl_harm.OFF: lambda number: number == 0,
    nccl_harm.ONE: lambda number: number == 1,
}


def detours(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> Iterator[Harm]:
    """Those of DETOURS that are set, and that the inventory does not ask for."""
    for one in DETOURS:
        value = None if one.name in policy.variables else settings.get(one.name)
        if value is not None and _is(one, value) and _needed(one, host, policy).value is not False:
            yield one


def _judged(one: Harm, value: str, host: NcclHost, policy: NcclPolicy) -> Iterator[Check]:
    need = _needed(one, host, policy)
    observed = f"{one.name}={short(value)}"
    if need.value is None:
        yield unknown(_HARM, one.name, need.why or "nobody looked", observed=observed)
    elif need.value:
        yield _failed(one.name, observed, one.means)


def _failed(name: str, observed: str, cause: str) -> Check:
    return failed(
        _HARM, name, observed, _EXPECTED, CAPABILITY, cause=cause, remedy="take the line out"
    )


def _needed(one: Harm, host: NcclHost, policy: NcclPolicy) -> Reading[bool]:
    """Whether the host has what the setting switches off."""
    if one.needs == nccl_harm.RAILS:
        rails = derive_rails.rails(host, policy)
        return Reading(None, rails.why) if rails.why else Reading(bool(rails.ports))
    if one.needs == nccl_harm.GPUS:
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
    number = values.number(value).value
    right = any(number in one for one in mine.indexes.values())
    if mine.unknown:
        yield unknown(_HARM, INDEX, mine.unknown, observed=observed)
    elif number is not None and number >= 0 and not right:
        cause = "at this index not every rail has an address that RoCE v2 routes"
        yield _failed(INDEX, observed, cause)
