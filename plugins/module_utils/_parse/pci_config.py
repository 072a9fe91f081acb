# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a PCI function's configuration space (its ``config`` file in sysfs)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .._ground.text import ParseError

# PCI Express Base Specification, chapter 7. Without root the kernel shows the header only.
HEADER = 64
CONVENTIONAL = 256
_STATUS, _POINTER = 0x06, 0x34
_HAS_CAPABILITIES = 0x10
_EXPRESS = 0x10
_ACS = 0x000D
_NO_ANSWER = 0xFFFF
_COMMAND = 0x04
# Control registers of the PCI Express capability by their place in it, and which of their bits are settings.
_CONTROLS = (
    ("device control", 0x08, 0x7FFF),
    ("link control", 0x10, 0x0FFF),
    ("device control 2", 0x28, 0xFFFF),
    ("link control 2", 0x30, 0xFFFF),
)
_COMMAND_SETTINGS = 0x0547
_SWITCHES = {0x0002: "memory decode", 0x0004: "bus mastering"}


@dataclass(frozen=True)
class Config:
    """``size``: how many bytes could be read. Bytes are those that the control register asks for.

    ``acs``: the control register of Access Control Services; None where the function has no such
    capability or it could not be read (``size`` tells which). ``off``: what the command register
    switches off of that which a driver needs. ``aspm``: to which states its link may sleep (1: L0s, 2: L1).
    """

    vendor: int
    size: int
    max_payload: int | None = None
    max_read_request: int | None = None
    acs: int | None = None
    off: tuple[str, ...] = ()
    aspm: int | None = None

    @property
    def answers(self) -> bool:
        """A function that fell off the bus reads as ones."""
        return self.vendor != _NO_ANSWER

    @property
    def header_only(self) -> bool:
        """Whether the capabilities were kept from us."""
        return self.size <= HEADER

    @property
    def extended(self) -> bool:
        """Whether the capabilities of PCI Express could be read, ACS among them."""
        return self.size > CONVENTIONAL


def parse(data: bytes) -> Config:
    """Read what is there; ParseError on less than a header."""
    if len(data) < HEADER:
        raise ParseError("config", 0, "", f"holds {len(data)} bytes, a header has {HEADER}")
    vendor = _word(data, 0)
    if vendor == _NO_ANSWER:
        return Config(vendor, len(data))
    payload = request = aspm = None
    place = _capability(data, _EXPRESS)
    if place is not None and place + 10 <= len(data):
        control = _word(data, place + 8)
        payload = 128 << (control >> 5 & 7)
        request = 128 << (control >> 12 & 7)
        aspm = _word(data, place + 16) & 3 if place + 18 <= len(data) else None
    acs = _extended(data, _ACS)
    return Config(
        vendor,
        len(data),
        payload,
        request,
        _word(data, acs + 6) if acs is not None and acs + 8 <= len(data) else None,
        tuple(name for bit, name in _SWITCHES.items() if not _word(data, _COMMAND) & bit),
        aspm,
    )


def controls(data: bytes) -> dict[str, int]:
    """The settings in a function's control registers, by name; {} where they could not be read."""
    place = _capability(data, _EXPRESS) if len(data) > HEADER and _word(data, 0) != _NO_ANSWER else None
    if place is None:
        return {}
    found = {"command": _word(data, _COMMAND) & _COMMAND_SETTINGS}
    found.update((name, _word(data, place + at) & bits) for name, at, bits in _CONTROLS if place + at + 2 <= len(data))
    return found


def _capability(data: bytes, wanted: int) -> int | None:
    """Where a capability begins, following the list; a list that goes round in a circle ends."""
    if not _word(data, _STATUS) & _HAS_CAPABILITIES:
        return None
    place = data[_POINTER] & 0xFC
    seen = set()
    while HEADER <= place < len(data) - 1 and place not in seen:
        seen.add(place)
        if data[place] == wanted:
            return place
        place = data[place + 1] & 0xFC
    return None


def _extended(data: bytes, wanted: int) -> int | None:
    place = CONVENTIONAL
    seen = set()
    while CONVENTIONAL <= place <= len(data) - 4 and place not in seen:
        seen.add(place)
        (header,) = struct.unpack_from("<I", data, place)
        if header & 0xFFFF == wanted:
            return place
        place = header >> 20 & 0xFFC
    return None


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")
