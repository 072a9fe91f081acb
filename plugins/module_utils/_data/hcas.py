# SPDX-License-Identifier: GPL-3.0-or-later
"""HCA models: what a port of theirs can do at most, and how they are told. Data only.

``source``/``confidence`` as in gpus.py. Sources: rdma-core's mlx5 provider and the PCI id list
(ids), NVIDIA's network operator documents (rates), release notes of NIC firmware (first number).
"""

from __future__ import annotations

from dataclasses import dataclass

_IDS = "PCI id list; rdma-core providers"
_RATES = "NVIDIA network operator, platform support"


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

HCAS = (
    Hca("ConnectX-2", "673c", 40.0, 2, confidence="recalled"),
    Hca("ConnectX-3", "1003", 56.0, 2, confidence="medium"),
    Hca("ConnectX-3 Pro", "1007", 56.0, 2, confidence="medium"),
    Hca("Connect-IB", "1011", 56.0, 10, confidence="recalled"),
    Hca("ConnectX-4", "1013", 100.0, 12),
    Hca("ConnectX-4 Lx", "1015", 50.0, 14),
    Hca("ConnectX-5", "1017", 100.0, 16),
    Hca("ConnectX-5 Ex", "1019", 100.0, 16),
    Hca("ConnectX-6", "101b", 200.0, 20, source=_RATES),
    Hca("ConnectX-6 Dx", "101d", 200.0, 22),
    Hca("ConnectX-6 Lx", "101f", 50.0, 26),
    Hca("ConnectX-7", "1021", 400.0, 28, source=_RATES),
    Hca("ConnectX-8", "1023", 800.0, 40, source=_RATES),
    Hca("ConnectX-9", "1025", 800.0, source=_RATES, confidence="medium"),
    Hca("ConnectX-10", "1027", confidence="medium"),
    Hca("BlueField", "a2d2", 100.0, 18, confidence="medium"),
    Hca("BlueField-2", "a2d6", 200.0, 24),
    Hca("BlueField-3", "a2dc", 400.0, 32, source=_RATES),
    Hca("BlueField-4", "a2df", confidence="medium"),
    Hca("ConnectX-4 VF", "1014", 100.0, 12, virtual=True),
    Hca("ConnectX-4 Lx VF", "1016", 50.0, 14, virtual=True),
    Hca("ConnectX-5 VF", "1018", 100.0, 16, virtual=True),
    Hca("ConnectX-5 Ex VF", "101a", 100.0, 16, virtual=True, confidence="medium"),
    Hca("ConnectX-6 VF", "101c", 200.0, 20, virtual=True),
    # Every chip from ConnectX-6 Dx on shares this one; the firmware's first number tells them.
    Hca("ConnectX VF", "101e", virtual=True),
)
