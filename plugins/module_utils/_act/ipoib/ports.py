# SPDX-License-Identifier: GPL-3.0-or-later
"""Which interface is a port's own, and what it can do; and whether somebody is logged in by it."""

from __future__ import annotations

import ipaddress
import os
import sys
from dataclasses import dataclass
from typing import Iterable, Sequence

from ..._data import ipoib as data
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.link import INFINIBAND
from ..._parse import ip_addr
from .desired import IpoibError, Link

_DEVICES = "/sys/class/infiniband"
_NET = "/sys/class/net"
# ARPHRD_INFINIBAND, and TCP's ESTABLISHED in /proc/net/tcp.
_INFINIBAND, _ESTABLISHED = "32", "01"
SSH_PORT = 22


@dataclass(frozen=True)
class Own:
    """A port's own interface. ``place``: its PCI function, like 0000:18:00.0; ``alone``: no other
    port has the same."""

    name: str
    driver: str
    place: str
    alone: bool


def own(evidence: Evidence, port: str) -> Own:
    """The interface of "mlx5_0/1"; IpoibError where there is none."""
    device, _slash, number = port.rpartition("/")
    base = f"{_DEVICES}/{device}"
    numbers = ask.names(evidence, f"{base}/ports")
    if numbers.value is None or number not in numbers.value:
        known = ", ".join(ask.names(evidence, _DEVICES).value or ()) or "none"
        raise IpoibError(
            f"this host has no port {port}: its RDMA devices are {known}. Next: correct"
            " ipoib_interfaces, or run role rdma first"
        )
    layer = ask.text(evidence, f"{base}/ports/{number}/link_layer").value
    if layer != INFINIBAND:
        raise IpoibError(f"{port} is {layer or 'of no known link layer'}, and IPoIB needs InfiniBand")
    found = [
        name
        for name in ask.names(evidence, f"{base}/device/net").value or ()
        if ask.text(evidence, f"{_NET}/{name}/type").value == _INFINIBAND
        and not ask.text(evidence, f"{_NET}/{name}/parent").known
        and ask.text(evidence, f"{_NET}/{name}/dev_port").value == str(int(number) - 1)
    ]
    if len(found) != 1:
        raise IpoibError(
            f"{port} has {'no IPoIB interface' if not found else ' and '.join(found)}. Next: see"
            f" that {data.MODULE} is loaded (`modprobe {data.MODULE}`, `ls {base}/device/net`)"
        )
    driver = os.path.basename(ask.link(evidence, f"{base}/device/driver").value or "")
    place = os.path.basename(ask.link(evidence, f"{base}/device").value or "")
    return Own(found[0], driver, place, len(numbers.value) == 1)


def refuse_mode(evidence: Evidence, links: Iterable[Link], owns: dict[str, Own]) -> None:
    """IpoibError where connected mode is wished of a driver that has none."""
    for link in links:
        driver = owns[link.port].driver
        if link.mode != data.CONNECTED or driver not in data.DATAGRAM_ONLY_DRIVERS:
            continue
        if ask.text(evidence, data.ENHANCED).value not in ("0", "N"):
            raise IpoibError(
                f"{link.port}: {driver} does IPoIB in datagram mode only. Next: say mode: datagram;"
                f" MLNX_OFED and DOCA have connected mode with ipoib_enhanced=0 of {data.MODULE}"
            )


def addresses(evidence: Evidence) -> dict[str, ip_addr.Interface]:
    """Interfaces by name; IpoibError where they cannot be told."""
    reported = ask.command(evidence, "ip_addr", ip_addr.parse)
    if reported.value is None:
        raise IpoibError(f"the host's interfaces cannot be told: {reported.why}")
    return {interface.name: interface for interface in reported.value}


def sessions(evidence: Evidence, numbers: Iterable[int]) -> set[str]:
    """Addresses of this host at which somebody is connected to these TCP ports now (sshd's).

    IpoibError where that cannot be told.
    """
    found = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        reported = ask.text(evidence, path)
        if reported.value is None and not (reported.missing and path.endswith("6")):
            raise IpoibError(f"who is logged in cannot be told: {reported.why}")
        for line in (reported.value or "").splitlines()[1:]:
            words = line.split()
            if len(words) > 3 and words[3] == _ESTABLISHED:
                address, _colon, number = words[1].partition(":")
                if int(number, 16) in numbers:
                    found.add(_unpacked(address))
    return found


def _unpacked(text: str) -> str:
    """The address that the kernel shows as words of the machine's own byte order."""
    raw = bytes.fromhex(text)
    step = -1 if sys.byteorder == "little" else 1
    turned = b"".join(raw[at : at + 4][::step] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(turned)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def refuse_session(
    evidence: Evidence,
    names: Sequence[str],
    port: int,
    ok: bool,
    consent: str = "ipoib_connection_ok",
) -> None:
    """IpoibError where an interface that is to change carries somebody's login, such as ours."""
    if ok or not names:
        return
    # What the inventory calls the port may be one that is forwarded to the host's own.
    numbers = sorted({SSH_PORT, port})
    at = sessions(evidence, numbers)
    known = addresses(evidence)
    for name in names:
        held = [address.local for address in known[name].addresses] if name in known else []
        by = sorted(at.intersection(held))
        if by:
            raise IpoibError(
                f"{name} carries a login to {by[0]} (TCP port"
                f" {' or '.join(map(str, numbers))}), perhaps this one. Nothing was changed. Next:"
                f" reach the host by another interface, or set {consent}"
            )
