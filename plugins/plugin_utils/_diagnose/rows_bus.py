# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes on the PCI bus, and devices that fell off it. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    DETOUR,
    NO_GDR,
    PCIE_SLOW,
    RAIL_LOST,
    RESENDS,
    RISK,
    STOPS,
    UNSTEADY,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import (
    look,
    run,
    site,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import LIKELY, Row

_LSPCI = ("lspci", "-vv", "-s", "{address}")
_BUS = ("lspci", "-tv")
_GPUS = ("gpu.*", "pci.gpu.*", "nvlink.*", "fleet.gpu.model", "fleet.pci.link")
_HCA = ("ib.*", "roce.*", "pci.hca.*", "pci.link.*", "pci.path.*", "host.dmesg.mlx5_warnings")
_HCAS = (
    *("ib.hca.count", "ib.hca.present", "ib.sources.agree", "ib.tool.*", "fleet.hca.*"),
    *("fleet.pci.link", "host.rdma.devices"),
)
_JOB_RAIL = (
    "nccl.log.hcas~: [1-9]",
    "nccl.log.errors~wc_status_(12|5|4)(_|\\b)|modify_qp|port_event",
)

ROWS = (
    Row(
        "gpu.off_bus",
        "a GPU or NVSwitch fell off the PCI bus",
        STOPS,
        (
            "pci.device.answers~\\[gpu\\]|vendor 10de",
            "gpu.device.lost",
            "gpu.xid.fatal~Xid 79\\b",
            "gpu.device.count~on the PCI bus:",
        ),
        look(
            *("nvidia-smi", "-q", "-d", "PERFORMANCE"),
            hands="power cycle the host through its BMC; if it comes again reseat or replace it",
        ),
        same=("pci.*",),
        here=(*_GPUS, "pci.path.max_payload", "nccl.gdr.level"),
    ),
    Row(
        "hca.failed",
        "an HCA failed: it or its firmware stopped answering",
        RAIL_LOST,
        ("host.dmesg.mlx5", "pci.device.answers"),
        run(
            *("mlxfwreset", "-d", "{address}", "-y", "reset"),
            otherwise=("lspci", "-d", "15b3:"),
            note="drain the host first; if it comes again power cycle it, then replace the HCA",
        ),
        same=_HCA,
        here=_HCAS,
        rail=(*_JOB_RAIL, "fabric.ping.*", "fabric.sm.answers"),
        whole=("nccl.log.network", "nccl.log.hcas"),
        share=True,
    ),
    Row(
        "pcie.nvswitch_link",
        "the PCIe link of an NVSwitch is narrower than it can be",
        RISK,
        ("pci.link.*~^(?!.*it carries).*\\[other\\]",),
        look(*_LSPCI, otherwise=_BUS, hands="have the baseboard looked at"),
        here=("fleet.pci.link",),
    ),
    Row(
        "pcie.link",
        "a PCIe link trained narrower or slower than both of its ends can",
        PCIE_SLOW,
        ("pci.link.width", "pci.link.speed"),
        look(
            *_LSPCI,
            otherwise=_BUS,
            hands="reseat card, riser and cable; look at the slot's settings in the BIOS",
        ),
        same=("pci.aer.*", "pci.hca.slot", "pci.gpu.slot"),
        here=("fleet.pci.link",),
        ratio=True,
    ),
    Row(
        "pcie.slot",
        "a slot or switch port is limited below what the card can",
        PCIE_SLOW,
        ("pci.hca.slot", "pci.gpu.slot"),
        look(
            *_LSPCI,
            otherwise=_BUS,
            hands="lift the limit in the BIOS, or move the card to a slot of its generation",
        ),
        here=("fleet.pci.link",),
        ratio=True,
    ),
    Row(
        "pcie.read_request",
        "an HCA asks for too little at once (MaxReadReq)",
        PCIE_SLOW,
        ("pci.hca.read_request",),
        site("host_tuning_boot"),
        fleet=True,
        loss=0.2,
        confidence=LIKELY,
    ),
    Row(
        "pcie.payload",
        "functions of one PCIe path disagree on the size of packets",
        UNSTEADY,
        ("pci.path.max_payload",),
        look(*_LSPCI, otherwise=_BUS, hands="boot anew, with pci=pcie_bus_safe if it stays"),
        same=("pci.aer.uncorrectable",),
    ),
    Row(
        "pcie.bit_errors",
        "a PCIe link repeats what arrives damaged",
        RESENDS,
        ("pci.aer.correctable",),
        look(*_LSPCI, otherwise=_BUS, hands="reseat or swap riser and cable"),
        same=("pci.aer.uncorrectable",),
        confidence=LIKELY,
    ),
    Row(
        "pcie.errors",
        "a PCIe link lost transactions",
        UNSTEADY,
        ("pci.aer.uncorrectable",),
        look(*_LSPCI, otherwise=_BUS, hands="reseat the device; boot anew and look again"),
        confidence=LIKELY,
    ),
    Row(
        "gpu.no_bar",
        "the firmware gave a GPU no address for its memory",
        STOPS,
        ("pci.gpu.bar",),
        look(*_LSPCI, otherwise=_BUS, hands="switch on Above 4G decoding in the BIOS"),
        here=_GPUS,
    ),
    Row(
        "gpu.small_bar",
        "HCAs cannot reach all of a GPU's memory",
        NO_GDR,
        ("pci.gpu.bar_size", "pci.gpu.above_4g"),
        look(*_LSPCI, otherwise=_BUS, hands="switch on Resizable BAR and Above 4G decoding"),
        far=("nccl.log.gdr", "nccl.log.errors~reg_mr_failed"),
        confidence=LIKELY,
    ),
    Row(
        "path.acs",
        "PCIe access control (ACS) is on between GPUs and HCAs",
        DETOUR,
        ("pci.bridge.acs",),
        site("host_tuning_boot"),
        far=("nccl.log.errors~wc_status_4(_|\\b)|p2p_disabled",),
        fleet=True,
        source="NCCL user guide, troubleshooting: PCI access control services",
    ),
    Row(
        "path.iommu",
        "the IOMMU translates what GPU and HCA have for each other",
        DETOUR,
        ("host.kernel.iommu",),
        site("host_tuning_kernel_args", reboot=True),
        far=("nccl.log.errors~wc_status_4(_|\\b)|p2p_disabled",),
        fleet=True,
        source="NCCL user guide, troubleshooting: IO virtualization",
    ),
    Row(
        "path.numa",
        "a rail is far from every GPU (another socket)",
        DETOUR,
        ("pci.hca.numa",),
        look(
            *("nvidia-smi", "topo", "-m"),
            hands="move the HCA beside the GPU that it serves; correct NUMA settings of the BIOS",
        ),
        far=("nccl.log.gdr",),
        here=("nccl.gdr.level",),
        source="NCCL user guide: NCCL_NET_GDR_LEVEL, PXB by default",
    ),
    Row(
        "hca.no_vfs",
        "virtual functions of an HCA are gone",
        RISK,
        ("pci.hca.vfs",),
        look(*_LSPCI, otherwise=_BUS, hands="set sriov_numvfs to 0 and anew"),
    ),
)
