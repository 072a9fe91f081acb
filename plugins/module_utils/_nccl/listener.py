# SPDX-License-Identifier: GPL-3.0-or-later
"""The address inside an ncclUniqueId."""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from dataclasses import dataclass

# After eight random bytes comes a C struct sockaddr_in or sockaddr_in6.
_AT = 8
_SCOPE_AT = 24
_ORDER = sys.byteorder
# Port and address; the size with all that is used.
_SHAPES: dict[int, tuple[struct.Struct, int]] = {
    socket.AF_INET: (struct.Struct(">2xH4s"), 8),
    socket.AF_INET6: (struct.Struct(">2xH4x16s"), 28),
}


@dataclass(frozen=True)
class Listener:
    """``address`` as text, without a zone; ``scope``: the interface's number, 0 for none."""

    address: str
    port: int
    scope: int = 0


def decode(unique: bytes) -> Listener:
    """Read the address; ValueError where there is none in it."""
    raw = unique[_AT:]
    if len(raw) < 2:
        raise ValueError("too short for an address")
    family = int.from_bytes(raw[:2], _ORDER)
    if family not in _SHAPES:
        raise ValueError(f"address family {family} is neither IPv4 nor IPv6")
    shape, size = _SHAPES[family]
    if len(raw) < size:
        raise ValueError("too short for an address")
    port, address = shape.unpack_from(raw)
    scope = int.from_bytes(raw[_SCOPE_AT:size], _ORDER)
    return Listener(str(ipaddress.ip_address(address)), port, scope)
