# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ip -j -d addr`` prints: network interfaces and their addresses."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError
from ._records import list_of, number_of, records, text_of

_TOOL = "ip_addr"
LOOPBACK = "loopback"
IPOIB = "ipoib"
_FAMILIES = {"inet": 4, "inet6": 6}
# Flags of an address that no packet may come from.
_UNUSABLE = ("tentative", "dadfailed")


@dataclass(frozen=True)
class Address:
    """``family``: 4 or 6. ``prefix``: bits of its network. ``scope``: global, link, host, ..."""

    family: int
    local: str
    prefix: int
    scope: str
    usable: bool = True


@dataclass(frozen=True)
class Interface:
    """One interface. ``kind``: LOOPBACK, IPOIB, or as iproute2 calls it (bond, vlan, bridge, veth);
    "" for a plain device. ``up``: switched on. ``running``: with a link below it. ``master``: the
    bond or bridge that it is in. ``addresses``: in the kernel's order."""

    name: str
    kind: str
    up: bool
    running: bool
    mtu: int
    master: str = ""
    addresses: tuple[Address, ...] = ()

    @property
    def is_hardware(self) -> bool:
        """A port, or a bond of some; the speed of any other is made up."""
        return self.kind in ("", "bond", IPOIB)


def parse(text: str) -> tuple[Interface, ...]:
    """Every interface, in the kernel's order; ParseError where the text tells of none."""
    found = tuple(_interface(record) for record in records(_TOOL, text))
    if not found:
        raise ParseError(_TOOL, 0, "", "no interface, not even lo")
    names = [interface.name for interface in found]
    if len(set(names)) != len(names):
        raise ParseError(_TOOL, 0, "", "one interface is told of twice")
    return found


def _interface(record: dict[str, Any]) -> Interface:
    name = text_of(_TOOL, record, "ifname")
    if not name:
        raise ParseError(_TOOL, 0, "", "an interface without a name")
    flags = list_of(_TOOL, record, "flags")
    mtu = number_of(_TOOL, record, "mtu")
    if mtu is None or "flags" not in record:
        raise ParseError(_TOOL, 0, "", f"{name} without {'flags' if mtu is not None else 'mtu'}")
    return Interface(
        name=name,
        kind=_kind(record, name),
        up="UP" in flags,
        running="LOWER_UP" in flags,
        mtu=mtu,
        master=text_of(_TOOL, record, "master"),
        addresses=tuple(_address(entry, name) for entry in list_of(_TOOL, record, "addr_info") if entry),
    )


def _kind(record: dict[str, Any], name: str) -> str:
    link = text_of(_TOOL, record, "link_type")
    if not link:
        raise ParseError(_TOOL, 0, "", f"{name} without link_type")
    info = record.get("linkinfo", {})
    if not isinstance(info, dict):
        raise ParseError(_TOOL, 0, "", "linkinfo is no object")
    if link == LOOPBACK:
        return LOOPBACK
    return text_of(_TOOL, info, "info_kind") or (IPOIB if link == "infiniband" else "")


def _address(record: Any, name: str) -> Address:
    if not isinstance(record, dict):
        raise ParseError(_TOOL, 0, "", f"an address of {name} is no object")
    local, prefix = text_of(_TOOL, record, "local"), number_of(_TOOL, record, "prefixlen")
    family = _FAMILIES.get(text_of(_TOOL, record, "family"))
    scope = text_of(_TOOL, record, "scope")
    try:
        known = ipaddress.ip_address(local)
    except ValueError:
        raise ParseError(_TOOL, 0, "", f"an address of {name} that is none") from None
    if known.version != family or prefix is None or not 0 <= prefix <= known.max_prefixlen:
        raise ParseError(_TOOL, 0, "", f"family or prefix length of {name}'s {known} are wrong")
    if not scope:
        raise ParseError(_TOOL, 0, "", f"{name}'s {known} without a scope")
    usable = not any(record.get(flag) for flag in _UNUSABLE)
    return Address(family, str(known), prefix, scope, usable)
