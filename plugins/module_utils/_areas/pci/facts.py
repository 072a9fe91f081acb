# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of links, BARs and bridges of GPUs and HCAs: gathered by observe.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, TypedDict

from ..._ground.reading import Reading
from ..._parse.nvsmi_xml import Nvsmi
from ..._parse.pci_config import Config
from ..._parse.pci_resource import Bar
from ..machine.facts import PciFunction


@dataclass(frozen=True)
class End:
    """One end of a link, as the function there tells it: GT/s and lanes, now and at most.

    What a link does now is asked of its lower end only.
    """

    speed: Reading[float] = field(default_factory=Reading)
    width: Reading[int] = field(default_factory=Reading)
    max_speed: Reading[float] = field(default_factory=Reading)
    max_width: Reading[int] = field(default_factory=Reading)


@dataclass(frozen=True)
class Errors:
    """What a function reported since boot (AER), by the kernel's names; a total is among them."""

    fatal: Reading[dict[str, int]] = field(default_factory=Reading)
    nonfatal: Reading[dict[str, int]] = field(default_factory=Reading)
    correctable: Reading[dict[str, int]] = field(default_factory=Reading)


@dataclass(frozen=True)
class Rdma:
    """One RDMA device: the PCI function behind it ("" where there is none, None where unknown).

    ``image``: the GUID that the functions of one adapter share. ``gbps``: the rate of its fastest
    active port, 0 where none is active, None where that cannot be told.
    """

    name: str
    address: str | None = None
    image: str = ""
    gbps: float | None = None


class PciLink(TypedDict):
    """What a link does now."""

    gts: float | None
    lanes: int | None


class PciReported(TypedDict, total=False):
    """What a report shows of the bus."""

    links: dict[str, PciLink]
    bars: dict[str, list[int] | None]
    rdma: dict[str, str | None]
    numa_nodes: list[int]


@dataclass(frozen=True)
class PciFacts:
    """What was read of GPUs, HCAs, NVSwitches and the bridges above them, by PCI address.

    ``smi``: what nvidia-smi lists, ``smi_anyhow``: even where it ended with an error; nobody looked
    where there are no GPUs. ``vfs``: the virtual functions that an HCA was told to make. ``bonds``:
    the bond that a function's network interface is in, "" for none; asked only of those that may
    share the RDMA device of another. ``nodes``: the host's NUMA nodes; ``distances``: from those
    nodes that have HCAs and no GPU.
    """

    ends: dict[str, End] = field(default_factory=dict)
    configs: dict[str, Reading[Config]] = field(default_factory=dict)
    bars: dict[str, Reading[tuple[Bar, ...]]] = field(default_factory=dict)
    errors: dict[str, Errors] = field(default_factory=dict)
    vfs: dict[str, Reading[int]] = field(default_factory=dict)
    rdma: Reading[tuple[Rdma, ...]] = field(default_factory=Reading)
    bonds: dict[str, Reading[str]] = field(default_factory=dict)
    smi: Reading[Nvsmi] = field(default_factory=Reading)
    smi_anyhow: Reading[Nvsmi] = field(default_factory=Reading)
    nodes: Reading[tuple[int, ...]] = field(default_factory=Reading)
    distances: dict[int, Reading[tuple[int, ...]]] = field(default_factory=dict)
    uptime_s: Reading[float] = field(default_factory=Reading)

    def to_dict(self) -> PciReported:
        """What a report shows of it."""
        return {
            "links": {
                address: {"gts": end.speed.value, "lanes": end.width.value}
                for address, end in self.ends.items()
                if end.speed.known or end.width.known
            },
            "bars": {
                address: None if bars.value is None else [region.size for region in bars.value]
                for address, bars in self.bars.items()
            },
            "rdma": {rdma.name: rdma.address for rdma in self.rdma.value or ()},
            "numa_nodes": list(self.nodes.value or ()),
        }


def on_the_way(functions: Iterable[PciFunction]) -> tuple[str, ...]:
    """The functions and every bridge above them, each once."""
    return tuple(dict.fromkeys(at for function in functions for at in (*function.path, function.address)))


def links(path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The links on a path, lowest first: each as the port above and the function below.

    Between the upstream and a downstream port of a switch lies no link, so every other pair is one.
    """
    return tuple((path[at - 1], path[at]) for at in range(len(path) - 1, 0, -2))
