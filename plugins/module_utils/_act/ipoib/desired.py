# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site says of a host's IPoIB interfaces, checked before anything is written."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence, Union

from ..._data import ipoib as data

Interfaces = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]
_PORT = re.compile(r"[A-Za-z0-9_.-]{1,63}/[0-9]{1,3}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,9}")
_KEYS = ("port", "name", "addresses", "networks", "mode", "mtu", "pkeys")
_CHILD_KEYS = ("pkey", "addresses", "networks", "mode", "mtu")
_FULL = 0x8000


class IpoibError(ValueError):
    """What keeps IPoIB from being set up: thing, cause and next step."""


@dataclass(frozen=True)
class Link:
    """One interface. ``pkey``: 0 for the port's own, else with the bit of full members, as its
    name has it; ``mtu``: 0 leaves it to the kernel; ``addresses``: like 10.1.0.11/16; ``wanted``:
    the name that the port's own interface is to get, "" for the one it has."""

    port: str
    pkey: int
    mode: str
    mtu: int
    addresses: tuple[str, ...]
    wanted: str = ""

    def name(self, parent: str) -> str:
        """Its name where the port's own interface is ``parent``, as the kernel makes it."""
        return f"{parent}.{self.pkey:04x}" if self.pkey else parent


def read(given: Sequence[Mapping[str, Any]], mode: str, mtu: Any, index: int | None) -> tuple[Link, ...]:
    """Every interface and child; ``index``: the host's number in networks, None where not said."""
    found: list[Link] = []
    for place, raw in enumerate(given):
        what = f"ipoib_interfaces: {raw.get('port', place + 1)}"
        _known(what, raw, _KEYS)
        port = str(raw.get("port", ""))
        if not _PORT.fullmatch(port):
            raise IpoibError(f"{what}: its port is {port!r}. Next: name one like mlx5_0/1")
        if any(link.port == port for link in found):
            raise IpoibError(f"{what}: there are two entries for this port. Next: make them one")
        name = str(raw.get("name") or "")
        if name and not _NAME.fullmatch(name):
            raise IpoibError(f"{what}: name {name!r} is no short word like ib0 (10 signs at most)")
        if name and name in [link.wanted for link in found]:
            raise IpoibError(f"{what}: another port is to be called {name}, too")
        own_mode, own_mtu = raw.get("mode", mode), raw.get("mtu", mtu)
        own = _link(what, port, 0, raw, own_mode, own_mtu, index)
        found.append(replace(own, wanted=name))
        for child in raw.get("pkeys") or ():
            if not isinstance(child, Mapping):
                raise IpoibError(f"{what}: pkeys holds {child!r}. Next: say {{pkey: 0x8001, ...}}")
            _known(what, child, _CHILD_KEYS)
            pkey = _pkey(what, child.get("pkey"))
            if any(link.port == port and link.pkey == pkey for link in found):
                raise IpoibError(f"{what}: pkey {pkey:#06x} is named twice")
            of_child = f"{what} pkey {pkey:#06x}"
            child_mode, child_mtu = child.get("mode", own_mode), child.get("mtu", own_mtu)
            found.append(_link(of_child, port, pkey, child, child_mode, child_mtu, index))
    if not found:
        raise IpoibError("ipoib_interfaces is empty. Next: name the ports, each with its addresses")
    _distinct(found)
    return tuple(found)


def _known(what: str, raw: Mapping[str, Any], keys: Sequence[str]) -> None:
    strange = sorted(str(key) for key in raw if key not in keys)
    if strange:
        raise IpoibError(f"{what}: {strange[0]!r} is not one of {', '.join(keys)}")


def _link(what: str, port: str, pkey: int, raw: Mapping[str, Any], mode: Any, mtu: Any, index: int | None) -> Link:
    if mode not in data.MODES:
        raise IpoibError(f"{what}: mode {mode!r} is neither datagram nor connected")
    addresses = [_address(what, address) for address in raw.get("addresses") or ()]
    addresses += [_computed(what, network, index) for network in raw.get("networks") or ()]
    return Link(port, pkey, mode, _mtu(what, mtu, mode), tuple(str(address) for address in addresses))


def _mtu(what: str, given: Any, mode: str) -> int:
    """auto: in connected mode all that goes, in datagram mode what the kernel takes itself."""
    if given in ("auto", None):
        return data.MOST[mode] if mode == data.CONNECTED else 0
    number = int(given) if isinstance(given, str) and given.isdigit() else given
    if isinstance(number, bool) or not isinstance(number, int):
        raise IpoibError(f"{what}: mtu {given!r} is neither auto nor a number")
    if not 1280 <= number <= data.MOST[mode]:
        usual = ", ".join(str(entry) for entry in data.DATAGRAM_MTUS.values())
        raise IpoibError(
            f"{what}: mtu {number} is not between 1280 and {data.MOST[mode]} ({mode} mode; usual:"
            f" {usual if mode == data.DATAGRAM else data.MOST[mode]})"
        )
    return number


def _pkey(what: str, given: Any) -> int:
    try:
        number = int(given, 0) if isinstance(given, str) else given
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= 0xFFFF:
        raise IpoibError(f"{what}: pkey {given!r} is not between 0x0001 and 0xffff")
    if number | _FULL in (_FULL, 0xFFFF):
        raise IpoibError(
            f"{what}: pkey {number:#06x} is that of the port itself. Next: take it out, its address belongs to the port"
        )
    # The kernel's interfaces carry it, and so do their names (ipoib_vlan.c).
    return number | _FULL


def _address(what: str, given: Any) -> Interfaces:
    text = str(given)
    try:
        found = ipaddress.ip_interface(text)
    except ValueError as exc:
        raise IpoibError(f"{what}: address {text!r}: {exc}") from exc
    if "/" not in text:
        raise IpoibError(f"{what}: address {text} has no length. Next: say it like {text}/16")
    return _usable(what, found)


def _usable(what: str, found: Interfaces) -> Interfaces:
    network = found.network
    special = found.is_multicast or found.is_loopback or found.is_unspecified
    ends = found.version == 4 and network.prefixlen < 31
    if special or (ends and found.ip in (network.network_address, network.broadcast_address)):
        raise IpoibError(f"{what}: {found} is no address of a host. Next: give another")
    return found


def _computed(what: str, given: Any, index: int | None) -> Interfaces:
    """The host's address in a network: its first one and the host's number."""
    try:
        network = ipaddress.ip_network(str(given))
    except ValueError as exc:
        raise IpoibError(f"{what}: network {given!r}: {exc}") from exc
    if index is None:
        raise IpoibError(f"{what}: in {network} it has no number. Next: set ipoib_index of the host")
    if not 0 < index < network.num_addresses:
        raise IpoibError(f"{what}: number {index} is not in {network}. Next: correct ipoib_index")
    return _usable(what, ipaddress.ip_interface(f"{network[index]}/{network.prefixlen}"))


def _distinct(found: Sequence[Link]) -> None:
    """One address is one interface's; nor may two be in one network: answers leave by the first."""
    owner: dict[str, str] = {}
    networks: dict[Any, str] = {}
    for link in found:
        name = f"{link.port}{f' pkey {link.pkey:#06x}' if link.pkey else ''}"
        for text in link.addresses:
            parsed = ipaddress.ip_interface(text)
            other = owner.setdefault(str(parsed.ip), name)
            if other != name:
                raise IpoibError(f"ipoib_interfaces: {parsed.ip} is both of {other} and of {name}")
            other = networks.setdefault(parsed.network, name)
            if other != name:
                raise IpoibError(
                    f"ipoib_interfaces: {other} and {name} are both in {parsed.network}: the kernel"
                    " would send all by one of them. Next: give each rail a network of its own"
                )
