# SPDX-License-Identifier: GPL-3.0-or-later
"""The selection syntax of NCCL_IB_HCA and NCCL_SOCKET_IFNAME, as NCCL reads it.

``^`` and then ``=`` at the very start hold for the whole list: all but these, and exact names
instead of beginnings. Nothing else in the list means anything but a name, a ``:`` and a ``,``.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Collection, Iterable, Sequence

from .._data import nccl_reading as reading
from .conf import as_bytes, as_text
from .release import Release

ANY = -1
_FAMILIES = {"AF_INET": 4, "AF_INET6": 6}
_ATOI = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")


@dataclass(frozen=True)
class Entry:
    """One entry of a list; a number is ANY where it is not told."""

    name: str
    port: int = ANY
    rail: int = ANY
    plane: int = ANY


@dataclass(frozen=True)
class Selection:
    """A whole value. ``left``: how many entries there is no room for, which NCCL does not see."""

    exclude: bool = False
    exact: bool = False
    entries: tuple[Entry, ...] = ()
    left: int = 0

    def takes(self, name: str, port: int = ANY) -> bool:
        """Whether a device (or one port of it) is among those that are taken.

        Without any entry everything is matched, and so ``^`` by itself takes nothing.
        """
        matched = not self.entries or any(self._matches(entry, name, port) for entry in self.entries)
        return matched != self.exclude

    def _matches(self, entry: Entry, name: str, port: int) -> bool:
        named = name == entry.name if self.exact else name.startswith(entry.name)
        return named and (entry.port == ANY or port == ANY or entry.port == port)


@dataclass(frozen=True)
class Port:
    """An active port of an HCA: mlx5_0, 1."""

    name: str
    port: int = 1


@dataclass(frozen=True)
class Interface:
    """One address of a network interface. Several addresses are several of these."""

    name: str
    address: str
    running: bool = True


def parse(value: str | None, release: Release, most: int) -> Selection:
    """Read a value, None for an unset variable; at most so many entries are seen."""
    text = value or ""
    exclude = text.startswith("^")
    text = text[1:] if exclude else text
    exact = text.startswith("=")
    text = text[1:] if exact else text
    entries = [word for word in (_entry(part, release) for part in text.split(",")) if word.name]
    return Selection(exclude, exact, tuple(entries[:most]), max(0, len(entries) - most))


def most_hcas(release: Release) -> int:
    """How many HCA ports this release takes, and how many entries of a list it sees."""
    if release >= reading.MORE_HCAS_SINCE:
        return reading.MOST_HCAS
    return reading.MOST_HCAS_BEFORE


def hca_ports(value: str | None, ports: Iterable[Port], release: Release) -> tuple[Port, ...]:
    """The ports that NCCL_IB_HCA takes of the active ones, in their order.

    None at all means that NCCL goes on without InfiniBand and RoCE, with one line at level INFO.
    """
    most = most_hcas(release)
    wanted = parse(value, release, most)
    return tuple(port for port in ports if wanted.takes(port.name, port.port))[:most]


def interfaces(
    value: str | None,
    present: Sequence[Interface],
    release: Release,
    family: str | None = None,
    near_comm_id: Collection[str] = (),
) -> tuple[str, ...]:
    """The interfaces that NCCL takes for sockets; the first is the one that jobs meet on.

    ``present``: in the kernel's order. ``family``: the value of NCCL_SOCKET_FAMILY. With
    NCCL_COMM_ID set, ``near_comm_id`` names the interfaces in its subnet. None at all is an error
    of the job: no socket interface found.
    """
    usable = _usable(present, release, family)
    if value is not None and len(as_bytes(value)) >= reading.SHORTEST_INTERFACES:
        return _matching(value, usable, release)
    found = _matching(reading.FIRST_INTERFACES, usable, release)
    if not found:
        found = tuple(name for name in usable if name in near_comm_id)
    left_out: tuple[str, ...] = reading.LEFT_OUT
    if release >= reading.LEFT_OUT_LATER_SINCE:
        left_out = reading.LEFT_OUT_LATER
    for again in (f"^{','.join(left_out)}", *left_out):
        found = found or _matching(again, usable, release)
    return found


def _usable(present: Sequence[Interface], release: Release, family: str | None) -> tuple[str, ...]:
    """The names that NCCL looks at, each once."""
    wanted = _FAMILIES.get(family or "")
    found: dict[str, None] = {}
    for interface in present:
        try:
            address = ipaddress.ip_address(interface.address.split("%")[0])
        except ValueError:
            continue
        if wanted not in (None, address.version) or (address.version == 6 and address.is_loopback):
            continue
        if interface.running or release < reading.RUNNING_SINCE:
            found[interface.name] = None
    return tuple(found)


def _matching(value: str, names: Iterable[str], release: Release) -> tuple[str, ...]:
    most = reading.MOST_INTERFACES
    wanted = parse(value, release, most)
    return tuple(name for name in names if wanted.takes(name))[:most]


def _entry(part: str, release: Release) -> Entry:
    """One entry; without a name where NCCL sees none."""
    fields = part.split(":")
    if release < reading.FIELDS_SINCE:
        return Entry(fields[0], _atoi(fields[1]) if len(fields) > 1 else ANY)
    name = as_text(as_bytes(fields[0])[: reading.LONGEST_ENTRY])
    port, rail, plane = (_atoi(field) if field else ANY for field in (*fields[1:4], "", "", "")[:3])
    return Entry(name, port, rail, plane)


def _atoi(text: str) -> int:
    """As C's atoi: the number in front, 0 without one, as 32 bits."""
    found = _ATOI.match(text)
    if found is None:
        return 0
    digits = found.group(1)
    value = int(digits) if len(digits) <= 20 else (2**63 - 1 if digits[0] != "-" else -(2**63))
    value = max(-(2**63), min(value, 2**63 - 1))
    return (value + 2**31) % 2**32 - 2**31
