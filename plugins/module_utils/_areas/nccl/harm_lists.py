# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of HCAs and interfaces held against what the host has, whoever set them."""

from __future__ import annotations

from typing import Mapping, NamedTuple

from ..._expect.nccl_policy import HCA, SOCKET, NcclPolicy
from ..._ground.text import few
from ..._nccl import derive_rails
from ..._nccl.host import NcclHost
from ..._nccl.problem import short
from ..._nccl.release import NEWEST
from ..._nccl.select import Interface, Port, hca_ports, interfaces
from ..._parse.ip_addr import LOOPBACK

# Where NCCL may use nothing else, it does not go on without.
_NET, _IB = "NCCL_NET", "ib"
_SHOWN = 4


class Harmed(NamedTuple):
    """``part``: whether jobs lose a part of what the host has, and not all of it."""

    name: str
    observed: str
    cause: str
    part: bool = False


class Unread(NamedTuple):
    """A list that nobody could hold against the host, and why."""

    name: str
    observed: str
    why: str


def harmed(settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> list[Harmed | Unread]:
    """What the lists of these settings take away from jobs on this host, or why nobody can tell."""
    found = [_hcas(settings[HCA], settings, host, policy)] if settings.get(HCA) else []
    found += [_interfaces(settings[SOCKET], settings, host)] if settings.get(SOCKET) else []
    return [harm for harm in found if harm is not None]


def _hcas(value: str, settings: Mapping[str, str], host: NcclHost, policy: NcclPolicy) -> Harmed | Unread | None:
    observed = f"{HCA}={short(value)}"
    known = derive_rails.rails(host, policy)
    if host.ports.value is None and not host.ports.missing:
        return Unread(HCA, observed, host.ports.why or "nobody looked at the ports")
    if known.why:
        return Unread(HCA, observed, known.why)
    rails = [port for port in known.ports if port.active]
    active = [Port(port.device, port.num) for port in host.ports.value or () if port.active]
    if not rails:
        return None
    taken = hca_ports(value, active, host.release or NEWEST)
    if not taken:
        alone = settings.get(_NET, "").lower() == _IB
        follows = "every job ends when it starts" if alone else "all traffic goes over TCP"
        return Harmed(HCA, observed, f"NCCL takes no HCA of this host: {follows}")
    lost = [port.name for port in rails if Port(port.device, port.num) not in taken]
    if not lost:
        return None
    every = "no rail" if len(lost) == len(rails) else f"not the rail{'s' if len(lost) > 1 else ''}"
    names = "" if len(lost) == len(rails) else f" {few(lost, _SHOWN)}"
    return Harmed(HCA, observed, f"NCCL takes {every}{names}", part=len(lost) < len(rails))


def _interfaces(value: str, settings: Mapping[str, str], host: NcclHost) -> Harmed | Unread | None:
    """A list that leaves jobs nothing to meet on, or the loopback interface alone."""
    observed = f"{SOCKET}={short(value)}"
    if host.interfaces.value is None:
        return Unread(SOCKET, observed, host.interfaces.why or "nobody looked at the interfaces")
    present = [
        Interface(interface.name, address.local, interface.running)
        for interface in host.interfaces.value
        for address in interface.addresses
    ]
    taken = interfaces(value, present, host.release or NEWEST, settings.get("NCCL_SOCKET_FAMILY"))
    if not taken:
        return Harmed(SOCKET, observed, "no interface of this host is called so: every job ends when it starts")
    kinds = {interface.name: interface.kind for interface in host.interfaces.value}
    if host.routes and kinds.get(taken[0]) == LOOPBACK:
        return Harmed(SOCKET, observed, f"jobs would meet on {short(taken[0])}, where no other host can reach them")
    return None
