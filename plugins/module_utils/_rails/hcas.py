# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognise an HCA's model by what ibstat or sysfs shows of it."""

from __future__ import annotations

import re

from .._data.hcas import HCAS, Hca

_BY_ID = {hca.pci_id: hca for hca in HCAS}
_BY_FIRMWARE = {hca.firmware: hca for hca in reversed(HCAS) if hca.firmware and not hca.virtual}
_CA_TYPE = re.compile(r"MT([0-9]{3,6})")
_FIRMWARE = re.compile(r"([0-9]{1,3})\.[0-9]{1,5}\.[0-9]{1,5}")


def hca_by_id(device: str) -> Hca | None:
    """The model of a PCI device id (hex, no 0x) of vendor 15b3; None where it is not known."""
    return _BY_ID.get(device.lower())


def hca_by_type(ca_type: str) -> Hca | None:
    """The model of a CA type like ``MT4129``; None where it is not in the table."""
    match = _CA_TYPE.fullmatch(ca_type)
    return _BY_ID.get(f"{int(match.group(1)):04x}") if match else None


def chip(ca_type: str, firmware: str) -> str:
    """The chip's name: by its type, of virtual functions by their firmware; else the CA type."""
    model = hca_by_type(ca_type)
    if model is not None and not model.virtual:
        return model.name
    match = _FIRMWARE.fullmatch(firmware)
    known = _BY_FIRMWARE.get(int(match.group(1))) if match else None
    return known.name if known and ca_type.startswith("MT") else ca_type


def most_gbps(ca_type: str) -> float:
    """The most that one port of this model does, in Gb/s; 0.0 where it is not known."""
    model = hca_by_type(ca_type)
    return model.max_gbps if model else 0.0
