# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's simulated hardware, from board.yml: each PCI function and where it sits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

GPU, HCA, NVSWITCH = "gpu", "hca", "nvswitch"
# PCI class and vendor by kind of function.
_IDS = {GPU: ("030200", "10de"), HCA: ("020700", "15b3"), NVSWITCH: ("068000", "10de")}


@dataclass(frozen=True)
class Function:
    """A PCI function that is no bridge.

    ``name``: GPU0, NVSwitch0, or the RDMA device that the HCA becomes. ``path``: addresses from the
    root port down to this function. ``ids``: class, vendor, device in hexadecimal digits.
    ``generation``, ``width``: of PCI Express, the most that it can do and what its link trained to.
    """

    kind: str
    name: str
    path: tuple[str, ...]
    ids: tuple[str, str, str]
    numa: int
    generation: int
    width: int

    @property
    def address(self) -> str:
        return self.path[-1]

    @property
    def place(self) -> str:
        """The function's directory below /sys."""
        return f"/sys/devices/pci{self.path[0][:7]}/" + "/".join(self.path)


@dataclass(frozen=True)
class Board:
    """All functions of a node, and ``spec``, the whole of board.yml."""

    functions: tuple[Function, ...]
    spec: Mapping[str, Any]

    def of(self, kind: str) -> tuple[Function, ...]:
        return tuple(function for function in self.functions if function.kind == kind)

    @property
    def gpus(self) -> tuple[Function, ...]:
        return self.of(GPU)

    @property
    def hcas(self) -> tuple[Function, ...]:
        return self.of(HCA)


def build(spec: Mapping[str, Any], hcas: Sequence[str]) -> Board:
    """The board of board.yml with these RDMA devices, spread evenly over the GPUs."""
    gpus = int(spec["gpu"]["count"])
    found = [_function(GPU, f"GPU{at}", _path(_bus(at), 2), at, spec) for at in range(gpus)]
    for at, name in enumerate(hcas):
        # Beside a GPU, below the same PCIe switch.
        near = at * gpus // len(hcas)
        found.append(_function(HCA, name, _path(_bus(near), 4), near, spec))
    for at in range(int(spec["nvswitch"]["count"])):
        bus = 0xA0 + 4 * at
        path = (f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0")
        found.append(_function(NVSWITCH, f"NVSwitch{at}", path, 0, spec))
    return Board(tuple(found), spec)


def _bus(gpu: int) -> int:
    return 0x10 + 0x10 * gpu


def _path(bus: int, port: int) -> tuple[str, ...]:
    """Root port, the switch's port above and the one below, the function."""
    return (
        f"0000:{bus:02x}:01.0",
        f"0000:{bus + 1:02x}:00.0",
        f"0000:{bus + 2:02x}:{port:02x}.0",
        f"0000:{bus + 1 + port:02x}:00.0",
    )


def _function(kind: str, name: str, path: tuple[str, ...], near: int, spec: Mapping[str, Any]) -> Function:
    mine = spec[kind]
    gpus, nodes = int(spec["gpu"]["count"]), int(spec["numa_nodes"])
    return Function(
        kind=kind,
        name=name,
        path=path,
        ids=(*_IDS[kind], str(mine["device"])),
        numa=near * nodes // gpus,
        generation=int(mine["generation"]),
        width=int(mine["width"]),
    )
