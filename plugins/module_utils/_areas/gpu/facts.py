# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of GPUs and their driver: gathered by observe.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from ..._data.drivers import ALL_MAY, BUSY, GROUP_MAY
from ..._ground.reading import Reading, as_json
from ..._parse._nvsmi import Gpu, Nvsmi, degrees, number
from ..._parse.dmesg import Xid
from ..._parse.nvsmi_error import NvsmiError


@dataclass(frozen=True)
class Module:
    """The driver in the kernel. ``open``: NVIDIA's open kernel modules; None: cannot be told."""

    version: str
    open: bool | None = None


class Card(TypedDict, total=False):
    """A GPU."""

    address: str
    name: str
    uuid: str
    serial: str
    vbios: str
    memory_mib: int | None
    persistence: str
    mig: str
    ecc: str
    recovery: str
    temperature: int | None
    fabric: dict[str, str] | None
    fabric_health: dict[str, str] | None


class GpuReported(TypedDict, total=False):
    """What a report shows of the GPUs."""

    driver: str | None
    cuda: str | None
    attached_gpus: int | None
    gpus: list[Card] | None
    source: str
    why: str
    error: str
    module: Module | None
    xids: list[Xid]


@dataclass(frozen=True)
class GpuFacts:
    """``smi`` is from the output of this name (``source``), ``error`` what nvidia-smi said instead.

    ``status``: its exit status. ``persistenced``: what systemd says of the persistence daemon,
    asked only where a GPU's persistence mode is off. ``log_cut``: the kernel's log, from which
    ``xids`` are, ends within a line. ``log_lost``: its beginning is lost. ``uptime_s``: seconds since boot.
    ``files``: permissions of the device files. ``group``: to whose group the driver gives them (0: root). ``groups``:
    number and name of the group that each has, asked where one is for its group alone. ``later``: a second look,
    where a GPU was busy without a program.
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
    uptime_s: Reading[float] = field(default_factory=Reading)
    files: dict[str, Reading[int]] = field(default_factory=dict)
    group: Reading[int] = field(default_factory=Reading)
    groups: Reading[dict[str, tuple[int, str]]] = field(default_factory=Reading)
    later: Reading[Nvsmi] = field(default_factory=Reading)

    def to_dict(self) -> GpuReported:
        smi = self.smi.value
        return {
            "driver": smi.driver if smi else None,
            "cuda": smi.cuda if smi else None,
            "attached_gpus": smi.attached_gpus if smi else None,
            "gpus": [_shown(gpu) for gpu in smi.gpus] if smi else None,
            "source": self.source,
            "why": self.smi.why,
            "error": self.error.line if self.error else "",
            "module": as_json(self.module.value) if self.module.value else None,
            "xids": [as_json(xid) for xid in self.xids.value or ()],
        }


def is_for_group(mode: Reading[int]) -> bool:
    """Whether a device file is for its group and not for everybody."""
    return mode.value is not None and mode.value & ALL_MAY != ALL_MAY and mode.value & GROUP_MAY == GROUP_MAY


def is_orphaned(gpu: Gpu) -> bool:
    """Whether it is busy, and nvidia-smi lists no program."""
    return (number(gpu.utilization) or 0) >= BUSY and number(gpu.programs) == 0


def _shown(gpu: Gpu) -> Card:
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
        "temperature": degrees(gpu.temp),
        "fabric": gpu.fabric,
        "fabric_health": gpu.fabric_health,
    }
