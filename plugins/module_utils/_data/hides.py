# SPDX-License-Identifier: GPL-3.0-or-later
"""Which findings of one host follow from which other one: a small part of causes/, for nodes.

From what is below up to what a job would notice, as there; a test holds each row against causes/.
Only what a host tells is folded by it, never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hides:
    """``roots``: failures; a glob of ids, and after ``~`` a regular expression of what was seen
    and why. ``fails``: failures that follow from one, in the same form. ``blind``: ids that cannot
    be looked at because of it. ``program``: the same of all that this program was to tell.
    ``same``: only of the root's own subject.
    """

    roots: tuple[str, ...]
    fails: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    program: str = ""
    same: bool = False


_GPUS = ("gpu.*", "pci.gpu.*", "nvlink.*")
_NVLINK = ("nvlink.fabric.*", "nvlink.link.*", "nvlink.pair.*")

ROWS = (
    Hides(("host.module.nouveau",), fails=("pci.gpu.driver~nouveau",)),
    Hides(
        ("pci.device.answers", "gpu.device.lost", "gpu.xid.fatal~Xid 79"),
        fails=("pci.*", "gpu.device.lost", "gpu.xid.fatal"),
        blind=("pci.*",),
        same=True,
    ),
    # Those of memory, as the driver tells them.
    Hides(
        (r"gpu.xid.fatal~Xid (48|64|95|140)\b",),
        fails=("gpu.xid.early", "gpu.ecc.volatile", "gpu.rows.pending", "gpu.pages.pending"),
        same=True,
    ),
    Hides(("gpu.xid.fatal",), fails=("gpu.device.reset",), same=True),
    Hides(
        ("gpu.ecc.volatile",),
        fails=("gpu.xid.early", "gpu.rows.pending", "gpu.pages.pending", "gpu.device.reset"),
        same=True,
    ),
    Hides(
        ("gpu.driver.versions", "gpu.driver.modules", "gpu.driver.answers"),
        fails=("gpu.device.count", "pci.gpu.driver"),
        blind=(*_GPUS, "stack.gpudirect.path"),
        program="nvidia-smi",
    ),
    Hides(("pci.gpu.driver",), fails=("gpu.device.count",), blind=_GPUS, program="nvidia-smi"),
    Hides(("gpu.device.lost",), fails=("pci.gpu.listed", "gpu.device.count"), blind=_GPUS, program="nvidia-smi"),
    Hides(("pci.gpu.listed",), fails=("gpu.device.count",), blind=_GPUS, program="nvidia-smi"),
    Hides(("gpu.device.count",), blind=(*_GPUS, "nccl.gdr.level"), program="nvidia-smi"),
    Hides(("pci.nvswitch.*",), fails=(*_NVLINK, "nvlink.fabric_manager.active~NVSwitch"), blind=_NVLINK),
    Hides(("nvlink.nvswitch.fatal",), fails=_NVLINK, blind=_NVLINK),
    Hides(("nvlink.fabric_manager.active~does not match",), fails=("nvlink.fabric_manager.version",)),
    Hides(
        ("nvlink.fabric_manager.version~^(?!.*under the running one)", "nvlink.fabric_manager.installed"),
        fails=("nvlink.fabric.*", "nvlink.link.state~no link up", "nvlink.pair.joined~no pair", "nvlink.nvlsm.*"),
        blind=(*_NVLINK, "nvlink.nvlsm.*", "nvlink.fabric_manager.*"),
    ),
    Hides(("nvlink.fabric_manager.active~masked|disabled",), fails=("nvlink.fabric_manager.boot",)),
    Hides(
        ("nvlink.fabric_manager.active",),
        fails=("nvlink.fabric.*", "nvlink.link.state~no link up", "nvlink.pair.joined~no pair", "nvlink.nvlsm.*"),
        blind=(*_NVLINK, "nvlink.nvlsm.*", "nvlink.fabric_manager.*"),
    ),
    Hides(("nvlink.nvlsm.running", "nvlink.nvlsm.ports"), fails=("nvlink.fabric.*",), blind=_NVLINK),
    Hides(
        ("nvlink.link.state", "nvlink.link.count"), fails=("nvlink.pair.*",), blind=("nvlink.pair.*", "nvlink.link.*")
    ),
    Hides(("nvlink.pair.joined",), fails=("nvlink.pair.links", "nvlink.pair.numa")),
    Hides(
        ("pci.hca.driver", "pci.hca.rdma"),
        fails=("ib.hca.present", "ib.hca.count", "ib.sources.agree"),
        blind=("ib.port.pkey", "ib.tool.*", "stack.gpudirect.*", "nccl.conf.derived", "nccl.gdr.level"),
    ),
    Hides(
        ("ib.hca.present",),
        fails=("ib.hca.count",),
        blind=("ib.*", "fabric.*", "stack.gpudirect.*", "nccl.conf.derived", "nccl.gdr.level"),
        program="ibstat",
    ),
    Hides(
        ("ib.port.state", "ib.port.physical_state"),
        fails=("ib.port.physical_state", "ib.port.lid", "ib.port.sm", "fabric.sm.answers"),
        blind=("ib.port.*", "fabric.sm.answers"),
        same=True,
    ),
    Hides(
        ("roce.port.state",),
        fails=("roce.port.physical_state", "roce.netdev.carrier"),
        blind=("roce.*",),
        same=True,
    ),
    Hides(("nccl.conf.harm~NCCL_CUMEM_ENABLE",), fails=("nccl.conf.doubts~NCCL_CUMEM_ENABLE",)),
    Hides(("container.engine.usable", "container.image.runs"), blind=("container.*",)),
)
