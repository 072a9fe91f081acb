# SPDX-License-Identifier: GPL-3.0-or-later
"""Read one entry of a port's GID table."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

EMPTY = "empty"
LINK_LOCAL = "link-local"
IPV4 = "IPv4"
IPV6 = "IPv6"
# What another host can be reached from, beyond the one link.
ROUTABLE = (IPV4, IPV6)
_ZERO = ":".join(["0000"] * 8)


@dataclass(frozen=True)
class Gid:
    """``address``: as people write it; ``kind``: EMPTY, LINK_LOCAL, IPV4 or IPV6."""

    address: str
    kind: str


def parse(text: str) -> Gid:
    """Read ``0000:0000:0000:0000:0000:ffff:0a00:0105``; ValueError where it is no GID."""
    if text.strip() == _ZERO:
        return Gid("", EMPTY)  # Nearly all of a table's.
    try:
        address = ipaddress.IPv6Address(text.strip())
    except ipaddress.AddressValueError:
        raise ValueError(f"{text.strip()[:60]!r} is not a GID") from None
    if int(address) == 0:
        return Gid("", EMPTY)
    inner = address.ipv4_mapped
    if inner is not None:
        return Gid(str(inner), LINK_LOCAL if inner.is_link_local else IPV4)
    return Gid(str(address), LINK_LOCAL if address.is_link_local else IPV6)
