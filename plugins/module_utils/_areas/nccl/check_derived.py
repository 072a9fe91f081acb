# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what holds on a host against what its nccl.conf would be derived to; no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping

from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import CAPABILITY, INVENTORY
from ..._expect.nccl import Desired
from ..._expect.nccl_policy import HCA, SOCKET
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._nccl.derive import derive
from ..._nccl.derive_roce import INDEX
from ..._nccl.derived import Derived, Setting, Untold
from ..._nccl.fleet import FleetView
from ..._nccl.host import NcclHost
from ..._nccl.problem import short
from ..._nccl.release import NEWEST
from ..._nccl.select import Interface, Port, hca_ports, interfaces, parse
from . import harm_lists

DERIVED = "nccl.conf.derived"
NOT_SET = "not set"
_SHOWN = 4
_ALONE = "nobody named another node's address, so there is no way to any"
_SAYS_SO = ("nccl_", "ibready_expect.")


def judge(host: NcclHost, wish: Desired, settings: Reading[dict[str, str]], fleet: FleetView | None) -> Iterator[Check]:
    """One check for each variable that the host needs, or may need."""
    wanted = derive(host, wish.policy, fleet)
    if settings.value is None:
        yield unknown(DERIVED, SYSTEM_FILE, settings.why or "nobody looked at the settings")
        return
    found = list(_each(wanted, wish, settings.value, host))
    yield from found
    if not found:
        observed = "nothing is needed: NCCL does right by itself"
        yield passed(DERIVED, SYSTEM_FILE, observed, "what this host needs", CAPABILITY)


def _each(wanted: Derived, wish: Desired, settings: Mapping[str, str], host: NcclHost) -> Iterator[Check]:
    found = harm_lists.harmed(settings, host, wish.policy)
    harms = {harm.name: f"{harm.cause}; " for harm in found if isinstance(harm, harm_lists.Harmed)}
    for setting in wanted.settings:
        yield _setting(setting, settings.get(setting.name), host, harms.get(setting.name, ""))
    for lacking in wanted.untold:
        yield _untold(lacking, host, settings)
    for name in wish.policy.forbid:
        if name in settings:
            yield failed(DERIVED, name, f"{name}={short(settings[name])}", NOT_SET, INVENTORY, cause="nccl_conf_forbid")


def _setting(setting: Setting, value: str | None, host: NcclHost, harm: str) -> Check:
    """``harm``: what the value that is there takes away from jobs."""
    said = setting.reason.startswith(_SAYS_SO) or "(nccl_rails)" in setting.reason
    source = INVENTORY if said else CAPABILITY
    observed = NOT_SET if value is None else short(value)
    if value == setting.value or _SAME.get(setting.name, _differs)(value, setting.value, host):
        return passed(DERIVED, setting.name, observed, setting.value, source)
    strange = absent(setting.name, value, host)
    names = f"this host has no {few([short(name) for name in strange], _SHOWN)}; " if strange else ""
    return failed(DERIVED, setting.name, observed, setting.value, source, cause=f"{names}{harm}{setting.reason}")


def absent(name: str, value: str | None, host: NcclHost) -> tuple[str, ...]:
    """The entries of a list of devices or interfaces by which nothing of this host goes; () of other settings."""
    known = {HCA: host.ports.map(lambda ports: {port.device for port in ports})}
    known[SOCKET] = host.interfaces.map(lambda found: {interface.name for interface in found})
    there = known[name].value if name in known else None
    if not value or there is None:
        return ()
    chosen = parse(value, host.release or NEWEST, len(value))
    alone = ((entry.name, replace(chosen, exclude=False, entries=(entry,))) for entry in chosen.entries)
    return tuple(dict.fromkeys(name for name, taking in alone if not any(taking.takes(device) for device in there)))


def _same_ports(value: str | None, wanted: str, host: NcclHost) -> bool:
    """Whether two lists mean the same of the ports that are there: one may name others as well."""
    ports = [Port(port.device, port.num) for port in host.ports.value or ()]
    release = host.release or NEWEST
    return hca_ports(value, ports, release) == hca_ports(wanted, ports, release)


def _same_interface(value: str | None, wanted: str, host: NcclHost) -> bool:
    """Whether jobs meet on the same interface, and sockets use no other because of the value."""
    release = host.release or NEWEST
    present = [
        Interface(interface.name, address.local, interface.running)
        for interface in host.interfaces.value or ()
        for address in interface.addresses
    ]
    taken = interfaces(value, present, release)
    right = interfaces(wanted, present, release)
    return bool(right) and (taken == right or (value is None and taken[:1] == right[:1]))


def _differs(_value: str | None, _wanted: str, _host: NcclHost) -> bool:
    return False


# By what a value does, where another one may do the same.
_SAME: dict[str, Callable[[str | None, str, NcclHost], bool]] = {
    HCA: _same_ports,
    SOCKET: _same_interface,
}


def _untold(untold: Untold, host: NcclHost, settings: Mapping[str, str]) -> Check:
    if untold.name == SOCKET and not host.routes:
        return skipped(DERIVED, SOCKET, _ALONE)
    if untold.name == INDEX and host.nccl.missing:
        return skipped(DERIVED, INDEX, host.nccl.why)
    observed = short(settings[untold.name]) if untold.name in settings else NOT_SET
    return unknown(DERIVED, untold.name, untold.why, observed=observed)
