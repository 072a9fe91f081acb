# SPDX-License-Identifier: GPL-3.0-or-later
"""What every area must know of a host before it can judge: its bus, its board, its kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from ..._data.boards import Board
from ..._data.gpus import Gpu
from ..._ground.reading import Reading, as_json

NVIDIA = "10de"
MELLANOX = "15b3"
NO_GPU = "no NVIDIA GPU on the PCI bus"
# A mark that cannot be read must not pass for real hardware, nor hide it.
MARK_UNREADABLE = "unreadable sandbox mark"
# PCI vendors whose Ethernet controllers may do RDMA: Mellanox/NVIDIA, Broadcom, Intel, Chelsio.
RDMA_VENDORS = (MELLANOX, "14e4", "8086", "1425")
# The classes that GPUs, NVSwitches and HCAs are of.
WATCHED_CLASSES = ("0200", "0207", "0280", "0300", "0302", "0680", "0c06")


@dataclass(frozen=True)
class PciFunction:
    """One PCI function: hexadecimal ids without 0x, class with six digits, NUMA node or -1.

    ``driver``: the bound driver, "" where none is, None where that cannot be told.
    ``path``: addresses from the root port down to this function; () where it cannot be told.
    ``virtual``: an SR-IOV virtual function; ``physical``: the address of the function that it
    belongs to, "" where that cannot be told. Most functions of a host are neither GPU, NVSwitch nor
    HCA: nothing but the class is read of those, their ids are "".
    """

    address: str
    class_code: str
    vendor: str
    device: str
    numa_node: int = -1
    driver: str | None = None
    path: tuple[str, ...] = ()
    virtual: bool = False
    physical: str = ""

    @property
    def watched(self) -> bool:
        """Whether this function is one of those that the checks are about."""
        return self.is_gpu or self.is_nvswitch or self.is_hca

    @property
    def is_gpu(self) -> bool:
        """NVIDIA VGA (0300) or 3D (0302) controllers."""
        return self.vendor == NVIDIA and self.class_code[:4] in ("0300", "0302")

    @property
    def is_nvswitch(self) -> bool:
        """NVIDIA bridges of class 0680."""
        return self.vendor == NVIDIA and self.class_code[:4] == "0680"

    @property
    def is_hca(self) -> bool:
        """InfiniBand controllers (0207, once 0c06), or Ethernet (0200) of a vendor with RDMA.

        ConnectX-3 in VPI mode is a network controller of no kind (0280).
        """
        kind = self.class_code[:4]
        return (
            kind in ("0207", "0c06")
            or (kind == "0200" and self.vendor in RDMA_VENDORS)
            or (kind == "0280" and self.vendor == MELLANOX)
        )


class MachineReported(TypedDict, total=False):
    """What a report shows of a machine."""

    product: str | None
    vendor: str | None
    bios: Reading[str]
    kernel: str | None
    arch: str
    virtual: bool | None
    container: str
    gpus: list[str | None] | None
    hcas: list[str]
    switch_managers: list[str]
    profile: str | None
    network: Reading[str]
    simulated: str
    simulates_hardware: bool


@dataclass(frozen=True)
class Machine:
    """The host as its files tell it, and the hardware profile that they amount to.

    ``gpus``: the model of each GPU seen on the bus (or by nvidia-smi where the bus cannot be
    read), None for a model that is not known. ``bios``: the firmware's version.
    ``simulated``: what of this host is simulated, "";
    ``simulates_hardware``: whether bus, kernel modules and their tools are, so that they can be
    judged like a host's.
    ``memlock_ceiling``: how many bytes a process of a simulated node may lock at most, whatever it
    asks for, because the machine below gives no more; None where nobody limits it like that.
    ``virtual``: whether the host is a virtual machine. ``container``: what kind of container we
    look from, "" outside. ``arch``: as ``uname -m`` says it, "" where no file tells.
    ``switch_managers``: addresses of the HCA functions that are no HCAs but lead to the NVLink
    switches of an HGX board; unknown where one of them cannot be told. ``marked_managers``: those
    that surely are, even then; ``unclear_managers``: those that may be, and so are no rails to
    judge. ``network``: ETHERNET where the ports on the rails' places are RoCE, "" where nothing says so.
    """

    pci: Reading[tuple[PciFunction, ...]] = field(default_factory=Reading)
    gpus: Reading[tuple[Gpu | None, ...]] = field(default_factory=Reading)
    product: Reading[str] = field(default_factory=Reading)
    kernel: Reading[str] = field(default_factory=Reading)
    vendor: Reading[str] = field(default_factory=Reading)
    bios: Reading[str] = field(default_factory=Reading)
    virtual: Reading[bool] = field(default_factory=Reading)
    container: str = ""
    arch: str = ""
    switch_managers: Reading[tuple[str, ...]] = field(default_factory=Reading)
    marked_managers: tuple[str, ...] = ()
    unclear_managers: tuple[str, ...] = ()
    simulated: str = ""
    simulates_hardware: bool = False
    memlock_ceiling: int | None = None
    board: Board | None = None
    network: Reading[str] = field(default_factory=lambda: Reading(""))

    @property
    def surely_simulated(self) -> str:
        """What of this host is simulated; "" where nothing is, or where its mark cannot be read."""
        return "" if self.simulated == MARK_UNREADABLE else self.simulated

    @property
    def without_hardware(self) -> str:
        """What is simulated of a node that shows no hardware and no kernel modules of its own, so
        that nothing of them can be judged; "" for all others."""
        return "" if self.simulates_hardware else self.surely_simulated

    @property
    def holds_part(self) -> str:
        """The kind of container, which may have been given a part of its host's devices; "" outside
        of any, and on a simulated node, whose container stands for the whole host."""
        return "" if self.simulates_hardware else self.container

    @property
    def functions(self) -> tuple[PciFunction, ...]:
        """Every PCI function, () where the bus cannot be read: ask ``pci.known`` first."""
        return self.pci.value or ()

    @property
    def cards(self) -> tuple[PciFunction, ...]:
        """The GPUs on the bus, without virtual functions."""
        return tuple(function for function in self.functions if function.is_gpu and not function.virtual)

    @property
    def hcas(self) -> tuple[PciFunction, ...]:
        """What may be an HCA: no virtual functions, no way to NVLink switches.

        Ethernet controllers of vendors with RDMA are among them, the host's management port too.
        """
        others = self.switch_managers.value or self.marked_managers
        return tuple(
            function
            for function in self.functions
            if function.is_hca and not function.virtual and function.address not in others
        )

    @property
    def architectures(self) -> tuple[str, ...]:
        """Of the GPUs whose models are known."""
        return tuple(dict.fromkeys(gpu.architecture for gpu in self.gpus.value or () if gpu))

    @property
    def has_gpus(self) -> bool | None:
        """Whether there is an NVIDIA GPU; None where nobody could look."""
        return None if self.gpus.value is None else bool(self.gpus.value)

    def to_dict(self) -> MachineReported:
        """What a report shows of it."""
        return {
            "product": self.product.value,
            "vendor": self.vendor.value,
            "bios": as_json(self.bios),
            "kernel": self.kernel.value,
            "arch": self.arch,
            "virtual": self.virtual.value,
            "container": self.container,
            "gpus": None if self.gpus.value is None else [gpu.model if gpu else None for gpu in self.gpus.value],
            "hcas": [hca.address for hca in self.hcas],
            "switch_managers": list(self.switch_managers.value or ()),
            "profile": self.board.name if self.board else None,
            "network": as_json(self.network),
            "simulated": self.simulated,
            "simulates_hardware": self.simulates_hardware,
        }
