# SPDX-License-Identifier: GPL-3.0-or-later
"""The link type of VPI cards: what mstconfig says of it, and which devices are asked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ..._data.hcas import HCAS

TYPES = {"infiniband": ("IB", "1"), "ethernet": ("ETH", "2")}
_VENDOR = "0x15b3"
# InfiniBand and Ethernet controllers; the DPU's management functions and bridges are others.
_CLASSES = ("0x0207", "0x0200")
# Handed to a virtual machine, such a function has no physfn; its id tells.
_VIRTUAL = {f"0x{entry.pci_id}" for entry in HCAS if entry.virtual}
_LINE = re.compile(r"\s*\*?\s*(LINK_TYPE_P([0-9]))\s+(.+?)\s*")
_VALUE = re.compile(r"(IB|ETH|VPI)\(([0-9])\)")
_UNSUPPORTED = re.compile(r"doesn't support|not supported|Unknown Parameter|not found", re.I)


class PortTypeError(ValueError):
    """mstconfig said something that is not understood."""


@dataclass(frozen=True)
class PortType:
    """A port's link type now and after the next boot: IB, ETH or VPI."""

    device: str
    port: int
    now: str
    after: str


def devices(root: str) -> list[str]:
    """PCI addresses of the first function of each card of the vendor; a virtual function has no card to ask."""
    home = os.path.join(root, "sys/bus/pci/devices")
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    found = []
    for name in names:
        place = os.path.join(home, name)
        if not name.endswith(".0") or os.path.lexists(os.path.join(place, "physfn")):
            continue
        vendor, device, kind = (_text(os.path.join(place, entry)) for entry in ("vendor", "device", "class"))
        if vendor == _VENDOR and device not in _VIRTUAL and kind[:6] in _CLASSES:
            found.append(name)
    return found


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def parse(device: str, text: str) -> tuple[PortType, ...]:
    """What ``mstconfig -e -d DEVICE query LINK_TYPE_P1 LINK_TYPE_P2`` says of each port.

    Its columns are Default, Current and Next Boot, the last one alone without ``-e``.
    PortTypeError where there is no port and no word that the card has but one type.
    """
    found = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        values = [name for name, _number in _VALUE.findall(match.group(3))]
        if not values:
            raise PortTypeError(f"mstconfig printed {line.strip()[:120]!r} for {device}")
        found.append(PortType(device, int(match.group(2)), values[-2] if values[1:] else "", values[-1]))
    if not found and not _UNSUPPORTED.search(text):
        raise PortTypeError(f"mstconfig printed no link type for {device}: {text.strip()[:200]!r}")
    return tuple(found)
