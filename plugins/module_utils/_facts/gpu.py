# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of GPUs and their driver: gathered by _observe/gpu."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Gpu, Nvsmi
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import Xid
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_error import NvsmiError


@dataclass(frozen=True)
class Module:
    """The driver in the kernel. ``open``: NVIDIA's open kernel modules; None: cannot be told."""

    version: str
    open: bool | None = None


@dataclass(frozen=True)
class GpuFacts:
    """``smi`` is from the output of this name (``source``), ``error`` what nvidia-smi said instead.

    ``status``: its exit status. ``persistenced``: what systemd says of the persistence daemon,
    asked only where a GPU's persistence mode is off. ``log_cut``: the kernel's log, from which
    ``xids`` are, ends within a line. ``log_lost``: its beginning is lost.
    """

    smi: Reading[Nvsmi] = field(default_factory=Reading)
    source: str = ""
    status: int = 0
    error: NvsmiError | None = None
    module: Reading[Module] = field(default_factory=Reading)
    persistenced: Reading[str] = field(default_factory=Reading)
    xids: Reading[tuple[Xid, ...]] = field(default_factory=Reading)
    log_cut: bool = False
    log_lost: bool = False

    def to_dict(self) -> dict[str, Any]:
        smi = self.smi.value
        return {
            "driver": smi.driver if smi else None,
            "cuda": smi.cuda if smi else None,
            "attached_gpus": smi.attached_gpus if smi else None,
            "gpus": [_shown(one) for one in smi.gpus] if smi else None,
            "source": self.source,
            "why": self.smi.why,
            "error": self.error.line if self.error else "",
            "module": asdict(self.module.value) if self.module.value else None,
            "xids": [asdict(one) for one in self.xids.value or ()],
        }


def _shown(gpu: Gpu) -> dict[str, Any]:
    return {
        "address": gpu.address,
        "name": gpu.name,
        "uuid": gpu.uuid,
        "serial": gpu.serial,
        "vbios": gpu.vbios,
        "memory_mib": gpu.memory_total_mib,
        "persistence": gpu.persistence,
        "mig": gpu.mig,
        "ecc": gpu.ecc,
        "recovery": gpu.recovery,
        "fabric": gpu.fabric,
        "fabric_health": gpu.fabric_health,
    }
