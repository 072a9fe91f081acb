# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulated node is made of, from a line of boards.yml."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

# CA type, PCI device id, firmware, most Gb/s, PCIe generation of the HCAs in boards.yml.
HCAS = {
    "ConnectX-6": ("MT4123", "101b", "20.43.2566", 200, 4),
    "ConnectX-6 VF": ("MT4124", "101c", "20.43.2566", 200, 4),
    "ConnectX-6 Dx": ("MT4125", "101d", "22.43.2566", 200, 4),
    "ConnectX-4 Lx": ("MT4117", "1015", "14.32.1010", 50, 3),
    "ConnectX-4": ("MT4115", "1013", "12.28.2302", 100, 3),
    "ConnectX-7": ("MT4129", "1021", "28.47.1026", 400, 5),
    "ConnectX-8": ("MT4131", "1023", "40.47.1026", 800, 6),
    "BlueField-3": ("MT41692", "a2dc", "32.47.1026", 400, 5),
}


@dataclass
class Hca:
    """One physical HCA with one port. ``role``: rail, storage (no rail) or nvswitch (SW_MNG)."""

    name: str
    model: str
    address: str
    path: list[str]
    numa: int
    role: str
    layer: str
    rate: int
    lid: int
    guid: int
    netdev: str
    state: str = "Active"
    physical: str = "LinkUp"
    sm_lid: int = 1
    firmware: str = ""
    pkeys: list[str] = field(default_factory=lambda: ["0xffff"])
    active_mtu: int = 4096
    width: int = 16

    @property
    def ca_type(self) -> str:
        return HCAS[self.model][0]

    @property
    def device(self) -> str:
        return HCAS[self.model][1]

    @property
    def generation(self) -> int:
        return HCAS[self.model][4]

    @property
    def virtual(self) -> bool:
        return self.model.endswith("VF")


@dataclass
class Card:
    """One GPU."""

    index: int
    address: str
    path: list[str]
    numa: int
    uuid: str
    generation: int
    width: int = 16


@dataclass
class Node:
    """A simulated node: all that the renderers in nodes/ need to write its evidence."""

    name: str
    title: str
    product: str = ""
    vendor: str = "Supermicro"
    gpu: str = ""  # Gpu.model of _data/gpus.yml
    gpu_name: str = ""  # as nvidia-smi prints it
    gpu_device: str = ""
    memory_mib: int = 81559
    cards: list[Card] = field(default_factory=list)
    hcas: list[Hca] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    switch_device: str = ""
    links: int = 0
    link_gbps: float = 0.0
    bridged: bool = False  # NVLink bridges join neighbours only
    mesh: bool = False  # GPUs are cabled to each other without NVSwitches
    fabric_manager: bool = False
    nvlsm: bool = False
    imex: bool = False
    mig: bool = False
    machine: str = "x86_64"
    virtual: bool = False
    kernel: str = "6.8.0-88-generic"
    os_id: str = "ubuntu"
    os_version: str = "24.04"
    driver: str = "580.105.08"
    cuda: str = "13.0"
    modules: str = "open"
    rdma: str = "doca"  # inbox, doca or mlnx_ofed
    ofed: str = "25.10-1.2.8.0"
    expect: dict[str, Any] = field(default_factory=dict)
    # Whatever one renderer alone understands; faults may set it.
    more: dict[str, Any] = field(default_factory=dict)

    def hca(self, name: str) -> Hca:
        return next(one for one in self.hcas if one.name == name)

    @property
    def rails(self) -> list[Hca]:
        return [one for one in self.hcas if one.role == "rail"]


def build(name: str, spec: dict[str, Any]) -> Node:
    """The node of one entry of boards.yml; raises TypeError on a key that no node has."""
    spec = copy.deepcopy(spec)
    count = spec.pop("gpus", 0)
    generation = spec.pop("pcie_gen", 5)
    groups = spec.pop("hcas", [])
    switches = spec.pop("nvswitches", 0)
    node = Node(name=name, **spec)
    node.expect = {"nccl": {"peers": ["192.0.2.11"]}, "container": {}, **node.expect}
    # One PCIe switch per pair of GPU and rail: root port, upstream, downstream, device.
    for index in range(count):
        numa = _numa(index, count)
        bus = 0x10 + 0x10 * index
        node.cards.append(
            Card(
                index,
                *_device(bus, 2, "0"),
                numa,
                f"GPU-{index:08x}-5151-4dad-8e2a-{index:012x}",
                generation,
            )
        )
    made = 0
    for group in groups:
        for index in range(group["count"]):
            # A rail sits beside its GPU; others have a root port of their own.
            beside = group["role"] == "rail" and count > 0
            gpu = index * count // group["count"]
            bus = 0x10 + 0x10 * gpu if beside else 0x90 + 4 * made
            model = group["model"]
            node.hcas.append(
                Hca(
                    name=f"mlx5_{made}",
                    model=model,
                    address=_device(bus, 4 if beside else 1, "0")[0],
                    path=_device(bus, 4 if beside else 1, "0")[1],
                    numa=_numa(gpu, count) if beside else 0,
                    role=group["role"],
                    layer=group.get("layer", "InfiniBand"),
                    rate=group.get("rate", HCAS[model][3]),
                    lid=20 + made if group.get("layer", "InfiniBand") == "InfiniBand" else 0,
                    sm_lid=1 if group.get("layer", "InfiniBand") == "InfiniBand" else 0,
                    guid=0xA088C20300E31000 + made,
                    netdev=group.get("netdev", "ib{}").format(made),
                    firmware=HCAS[model][2],
                    width=group.get("width", 16),
                )
            )
            made += 1
    for index in range(switches):
        node.switches.append(_device(0xE0 + 4 * index, 1, "0")[0])
    return node


def _numa(index: int, count: int) -> int:
    return 0 if 2 * index < count else 1


def _device(bus: int, below: int, function: str) -> tuple[str, list[str]]:
    """Address and path from the root port of a device on this bus, ``below`` buses further down."""
    root = f"0000:{bus - 1:02x}:01.0" if below == 1 else f"0000:{bus:02x}:01.0"
    if below == 1:
        return f"0000:{bus:02x}:00.{function}", [root, f"0000:{bus:02x}:00.{function}"]
    upstream = f"0000:{bus + 1:02x}:00.0"
    downstream = f"0000:{bus + 2:02x}:{below:02x}.0"
    address = f"0000:{bus + 1 + below:02x}:00.{function}"
    return address, [root, upstream, downstream, address]
