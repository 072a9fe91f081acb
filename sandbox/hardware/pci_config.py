# SPDX-License-Identifier: GPL-3.0-or-later
"""The binary files of a PCI function: configuration space and product data."""

from __future__ import annotations

import struct

# By generation, as the kernel prints it.
SPEEDS = {
    1: "2.5 GT/s PCIe",
    2: "5.0 GT/s PCIe",
    3: "8.0 GT/s PCIe",
    4: "16.0 GT/s PCIe",
    5: "32.0 GT/s PCIe",
    6: "64.0 GT/s PCIe",
}


def config(
    ids: tuple[str, str, str],
    request: int,
    payload: int = 256,
    acs: int = 0,
    command: int = 0x0547,
    link: int = 0,
) -> bytes:
    """A configuration space (4096 bytes): header, power management, PCI Express; ACS on bridges.

    ``ids``: class, vendor, device in hexadecimal digits. ``request`` and ``payload`` in bytes:
    largest read request and payload. ``acs``, ``link``: the control registers of ACS and of the link.
    """
    kind, vendor, device = ids
    space = bytearray(4096)
    struct.pack_into("<HHHH", space, 0, int(vendor, 16), int(device, 16), command, 0x0010)
    space[0x09:0x0C] = int(kind, 16).to_bytes(3, "little")
    space[0x34] = 0x40
    space[0x40:0x42] = bytes((0x01, 0x60))
    space[0x60:0x62] = bytes((0x10, 0x00))
    control = (payload.bit_length() - 8) << 5 | (request.bit_length() - 8) << 12
    struct.pack_into("<H", space, 0x68, control)
    struct.pack_into("<H", space, 0x70, link)
    bridge = kind.startswith("0604")
    struct.pack_into("<I", space, 0x100, 0x14810001 if bridge else 0x00010001)
    if bridge:
        struct.pack_into("<IHH", space, 0x148, 0x0001000D, 0x005F, acs)
    return bytes(space)


def vpd(name: str, fields: dict[str, str]) -> bytes:
    """Product data (VPD): the name, some keywords of two letters, the end tag."""
    body = b"".join(key.encode() + bytes((len(text),)) + text.encode() for key, text in fields.items())
    title = name.encode()
    return (struct.pack("<BH", 0x82, len(title)) + title + struct.pack("<BH", 0x90, len(body)) + body) + b"\x78"
