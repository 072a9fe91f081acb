# SPDX-License-Identifier: GPL-3.0-or-later
"""HCA models: what a port of theirs can do at most, and how they are told (hcas.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import hcas as rows

_IDS = "PCI id list; rdma-core providers"


@dataclass(frozen=True)
class Hca:
    """One model. ibstat's CA type is ``MT`` and the PCI device id in decimal digits.

    ``max_gbps``: what one port does at most, in any mode; 0.0 where it is not known. One PCI device
    id is sold at several rates, so this is a ceiling and never an expectation. ``firmware``: first
    number of its firmware versions, 0 where it is not known. ``virtual``: the id of an SR-IOV
    function; in a virtual machine that is all there is to see.
    """

    name: str
    pci_id: str
    max_gbps: float = 0.0
    firmware: int = 0
    virtual: bool = False
    source: str = _IDS
    confidence: str = "confirmed"


# What a port of a rail gives at least: the slowest HCAs that boards of the reference designs were
# given for one (DGX-1, HGX-2: EDR). Slower ones carry management, storage or the login.
RAIL_GBPS = 100.0

# The last train of a chip's firmware, by the first number of its versions; others follow the newest stack.
# source: release notes of the NIC firmware that comes with MLNX_OFED 5.8 to DOCA 3.2; confirmed.
FIRMWARE_ENDED = {12: 28, 14: 32, 16: 35, 20: 43}

HCAS: tuple[Hca, ...] = load(Hca, rows.HCAS)
