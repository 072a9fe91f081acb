# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what holds on a host against what its nccl.conf would be derived to; no I/O."""

from __future__ import annotations

from typing import Callable, Iterator, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY, INVENTORY
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import DISABLE, derive
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import INDEX
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Derived, Untold
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import FleetView
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import HCA, SOCKET
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import short
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import NEWEST
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.select import (
    Interface,
    Port,
    hca_ports,
    interfaces,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.wish import Wish

DERIVED = "nccl.conf.derived"
NOT_SET = "not set"
_ALONE = "nobody named another node's address, so there is no way to any"
_SAYS_SO = ("nccl_", "ibready_expect.")


def judge(
    host: NcclHost,
    wish: Wish,
    settings: Reading[dict[str, str]],
    fleet: FleetView | None,
) -> Iterator[Check]:
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


def _each(
    wanted: Derived, wish: Wish, settings: Mapping[str, str], host: NcclHost
) -> Iterator[Check]:
    for one in wanted.settings:
        yield _setting(one, settings.get(one.name), host)
    for lacking in wanted.untold:
        yield _untold(lacking, host, settings)
    for name in wish.policy.forbid:
        if name in settings:
            observed = f"{name}={short(settings[name])}"
            yield failed(DERIVED, name, observed, NOT_SET, INVENTORY, cause="nccl_conf_forbid")


def _setting(one: Setting, value: str | None, host: NcclHost) -> Check:
    said = one.reason.startswith(_SAYS_SO) or "(nccl_rails)" in one.reason
    source = INVENTORY if said else CAPABILITY
    observed = NOT_SET if value is None else short(value)
    if value == one.value or _SAME.get(one.name, _differs)(value, one.value, host):
        return passed(DERIVED, one.name, observed, one.value, source)
    return failed(DERIVED, one.name, observed, one.value, source, cause=one.reason)


def _same_ports(value: str | None, wanted: str, host: NcclHost) -> bool:
    """Whether two lists mean the same of the ports that are there: one may name others as well."""
    ports = [Port(one.device, one.num) for one in host.ports.value or ()]
    release = host.release or NEWEST
    return hca_ports(value, ports, release) == hca_ports(wanted, ports, release)


def _same_interface(value: str | None, wanted: str, host: NcclHost) -> bool:
    """Whether jobs meet on the same interface, and sockets use no other because of the value."""
    release = host.release or NEWEST
    present = [
        Interface(one.name, address.local, one.running)
        for one in host.interfaces.value or ()
        for address in one.addresses
    ]
    taken = interfaces(value, present, release)
    right = interfaces(wanted, present, release)
    return bool(right) and (taken == right or (value is None and taken[:1] == right[:1]))


def _off_already(value: str | None, _wanted: str, _host: NcclHost) -> bool:
    """Without a device NCCL finds none."""
    return value is None


def _differs(_value: str | None, _wanted: str, _host: NcclHost) -> bool:
    return False


# By what a value does, where another one may do the same.
_SAME: dict[str, Callable[[str | None, str, NcclHost], bool]] = {
    HCA: _same_ports,
    SOCKET: _same_interface,
    DISABLE: _off_already,
}


def _untold(one: Untold, host: NcclHost, settings: Mapping[str, str]) -> Check:
    if one.name == SOCKET and not host.routes:
        return skipped(DERIVED, SOCKET, _ALONE)
    if one.name == INDEX and host.nccl.missing:
        return skipped(DERIVED, INDEX, host.nccl.why)
    observed = short(settings[one.name]) if one.name in settings else NOT_SET
    return unknown(DERIVED, one.name, one.why, observed=observed)
