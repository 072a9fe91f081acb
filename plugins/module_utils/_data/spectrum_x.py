# SPDX-License-Identifier: GPL-3.0-or-later
"""What each release of Spectrum-X's reference architecture has of an HCA. Data only.

Sources: the profiles of NVIDIA's NIC configuration operator (Mellanox/nic-configuration-operator, bindata/spectrum-x/
RA1.3.yaml at 10ec20b1, RA2.0.yaml at 0fc689c5, RA2.1.yaml at 03881da6 and b0fe2e27, RA2.2.yaml at 597a544a, RA3.0.yaml
at 1e397fb5); its table from names of DMS to those of mlxconfig for those that the older profiles name by DMS; NVIDIA
Network Operator 25.10, Spectrum-X NIC configuration (which HCAs, which modes). Confirmed.

Left out: what a site cuts its ports into (NUM_OF_PF, NUM_OF_PLANES_P1, MODULE_SPLIT_M0), how many virtual functions it
has, the parameters of congestion control (PPCC), which nobody reads without writing a command, and MULTIPATH_DSCP of
RA2.1, which its profile lets a firmware lack. Where the answer to a probe has its usual mark (mode 0), the mark in
ROCE_RTT_RESP_DSCP_P1 does nothing: inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

# How a port's lanes are spread over planes of switches; NONE has one.
NONE, SOFTWARE, HARDWARE, UNIPLANE = "none", "swplb", "hwplb", "uniplane"
PLANES = (NONE, SOFTWARE, HARDWARE, UNIPLANE)

CONNECTX_8, CONNECTX_9, BLUEFIELD_3 = "1023", "1025", "a2dc"
# A BlueField-3 is sold as SuperNIC for what GPUs say to each other, and as DPU for the rest: the name of its board
# tells (names of both in the tests of NVIDIA's DOCA platform). Of the same models some boards are named DPU: all of
# them were at first (BlueField DPU BSP 4.2.2, supported platforms; now SuperNICs: BlueField-3 user manual, supported
# interfaces). In capitals.
DPU = "DPU"
SUPERNIC = frozenset(("SUPERNIC", "B3140H", "B3140L", "B3210L", "B3220L"))

# The register ROCE_ACCL, alike in all releases. It forgets all of it at a reset.
REGISTER = {
    "adaptive_routing_forced_en": 1,
    "roce_adp_retrans_en": 1,
    "roce_tx_window_en": 1,
    "roce_slow_restart_en": 0,
    "roce_slow_restart_idle_en": 0,
}
# The program of Spectrum-X's congestion control, one for each RDMA device; all releases run it on the host.
CONGESTION = "doca_spcx_cc"
# What NVIDIA's plugin for NCCL is called by (HPC-X 2.25, Spectrum-X NCCL Plugin); what it does unasked is not public.
PLUGIN = "spcx"

# A BlueField that is a NIC has its processor off the way.
_NIC_MODE = {"INTERNAL_CPU_MODEL": 1, "INTERNAL_CPU_OFFLOAD_ENGINE": 1}


@dataclass(frozen=True)
class Profile:
    """``hcas``: PCI device ids. ``config``: of the firmware (mlxconfig) by planes. ``congestion``: the release of
    the program of congestion control. ``trust`` and ``lossless``: of the interface, ``tos`` None where it has none."""

    hcas: tuple[str, ...]
    config: Mapping[str, Mapping[str, int]]
    congestion: str
    trust: str = "dscp"
    lossless: tuple[int, ...] = (3,)

    def wanted(self, pci_id: str, planes: str) -> dict[str, int]:
        """The firmware's parameters of such an HCA."""
        return {**self.config[planes], **(_NIC_MODE if pci_id == BLUEFIELD_3 else {})}


_FIRST = {"ROCE_ADAPTIVE_ROUTING_EN": 1, "USER_PROGRAMMABLE_CC": 1, "TX_SCHEDULER_LOCALITY_MODE": 2}
_STEERED = {**_FIRST, "ROCE_CC_STEERING_EXT": 2}
_USUAL = {"ROCE_RTT_RESP_DSCP_MODE_P1": 0}
_MARKED = {"ROCE_RTT_RESP_DSCP_MODE_P1": 1, "ROCE_RTT_RESP_DSCP_P1": 48}
_ONE_PATH = {"MULTIPATH_DSCP": 0}
_BALANCED = {**_STEERED, **_MARKED, "FLEX_PARSER_PROFILE_ENABLE": 10, "RDE_DISABLE": 1, "VF_LOG_BAR_SIZE": 5}


def _by_planes(others: Mapping[str, int], hardware: Mapping[str, int]) -> dict[str, Mapping[str, int]]:
    return {NONE: others, SOFTWARE: others, HARDWARE: hardware, UNIPLANE: others}


_TWO = (CONNECTX_8, BLUEFIELD_3)
_THREE = (CONNECTX_8, CONNECTX_9, BLUEFIELD_3)
PROFILES = {
    "RA1.3": Profile(_TWO, {NONE: _FIRST}, "2.10.0"),
    "RA2.0": Profile(_TWO, {NONE: {**_STEERED, **_USUAL, **_ONE_PATH}}, "3.1.0105-1"),
    "RA2.1": Profile(_TWO, _by_planes({**_STEERED, **_USUAL}, _BALANCED), "3.3.0"),
    "RA2.2": Profile(
        _THREE,
        _by_planes({**_STEERED, **_MARKED, **_ONE_PATH}, {**_BALANCED, "KEEP_ETH_LINK_UP_P1": 0}),
        "3.4.0",
    ),
    "RA3.0": Profile(_THREE, _by_planes({**_STEERED, **_USUAL, **_ONE_PATH}, _BALANCED), "3.4.0"),
}
