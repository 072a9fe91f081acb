# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the address on which the installed NCCL listens for its other ranks."""

from __future__ import annotations

import re

from ..._ask.nccl.proof import Listener
from ..._data.nccl_library import SONAME
from ..._expect.expectations import CAPABILITY
from ..._expect.nccl_policy import SOCKET
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._nccl import derive_socket
from ..._nccl.derived import Setting
from ..._nccl.problem import short
from ..._parse.ip_addr import LOOPBACK, Interface
from .check_library import NO_LIBRARY
from .facts import HostFacts

_ADDRESS = "nccl.bootstrap.address"
_OUT = "an address that leads out of this host"
# Bridges of containers and virtual machines, by their usual names.
_INSIDE = re.compile(r"docker|virbr|cni|br-[0-9a-f]{12}$|lxc|podman|veth|flannel|cali")


def judge(here: HostFacts) -> Check:
    """nccl.bootstrap.address"""
    proof = here.asked.proof
    if proof.value is None:
        if here.asked.library.missing:
            return skipped(_ADDRESS, SONAME, NO_LIBRARY)
        return unknown(_ADDRESS, SONAME, proof.why or "nobody asked the library")
    listener = proof.value.listener
    if listener is None:
        said = next((entry for entry in reversed(proof.value.log) if "NCCL WARN" in entry), "")
        cause = short(said.partition("NCCL WARN ")[2]) if said else ""
        observed = f"none: ncclGetUniqueId ended with {proof.value.meaning}"
        return failed(_ADDRESS, SONAME, observed, _OUT, CAPABILITY, cause=cause)
    return _of(here, listener)


def _of(here: HostFacts, listener: Listener) -> Check:
    interfaces = here.host.interfaces
    if interfaces.value is None:
        why = interfaces.why or "nobody looked at the interfaces"
        return unknown(_ADDRESS, SONAME, why, observed=listener.address)
    wanted, why = _wanted(here)
    named = here.asked.proof.value.interface if here.asked.proof.value else ""
    holder = _holder(interfaces.value, listener, (wanted, named))
    if holder is None:
        why = f"no interface holds {listener.address}, which the library listens on"
        return unknown(_ADDRESS, SONAME, why, observed=listener.address)
    observed = f"{holder.name}, {listener.address}"
    if wanted:
        return outcome(holder.name == wanted, _ADDRESS, SONAME, observed, wanted, CAPABILITY, cause=_cause(here))
    if holder.kind == LOOPBACK or _INSIDE.match(holder.name):
        return failed(_ADDRESS, SONAME, observed, _OUT, CAPABILITY, cause=_cause(here))
    if why:
        return unknown(_ADDRESS, SONAME, why, observed=observed)
    return passed(_ADDRESS, SONAME, observed, _OUT, CAPABILITY)


def _holder(interfaces: tuple[Interface, ...], listener: Listener, names: tuple[str, ...]) -> Interface | None:
    """Who has the address; of several (one address may be on lo as well) the one of these names."""
    found = [
        interface
        for interface in interfaces
        if any(address.local == listener.address for address in interface.addresses)
    ]
    for name in names:
        for item in found:
            if item.name == name:
                return item
    return found[0] if found else None


def _wanted(here: HostFacts) -> tuple[str, str]:
    """The interface with the way to the other nodes, or why it cannot be told; neither where the
    site itself says what holds."""
    policy = here.wish.policy
    if SOCKET in policy.variables or SOCKET in policy.forbid:
        return "", ""
    found = derive_socket.lines(here.host, here.wish.policy)
    first = next((item for item in found if item.name == SOCKET), None)
    if isinstance(first, Setting):
        return first.value.lstrip("="), ""
    alone = not here.host.routes
    return "", "" if first is None or alone else first.why


def _cause(here: HostFacts) -> str:
    settings = here.settings.value or {}
    if SOCKET in settings:
        return f"{SOCKET} is {short(settings[SOCKET])}"
    return f"{SOCKET} is not set, and NCCL takes the first interface that it likes"
