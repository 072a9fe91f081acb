# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference designs of compute fabrics, and every row that their documents publish. Data only.

``source``/``confidence`` as in gpus.py. A row is what the document prints; tests size every row anew. How many ports
a switch has follows from the rows: as many as lead down from a leaf and up from it.
"""

from __future__ import annotations

from dataclasses import dataclass

INFINIBAND = "InfiniBand"
ETHERNET = "Ethernet"


@dataclass(frozen=True)
class Row:
    """One published size. ``cables``: node to leaf, leaf to spine, spine to core.

    ``managed``: with the ports that subnet managers take. ``wrong``: fields in which the document contradicts itself,
    and how.
    """

    units: int
    nodes: int
    gpus: int
    leaves: int
    spines: int
    cores: int
    cables: tuple[int, int, int]
    table: str
    managed: bool = False
    wrong: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Design:
    """A rail-optimised fat tree: HCA i of every node on a leaf of rail i.

    ``radix``: ports of a switch, ``rate`` Gb/s each. ``unit``: nodes of a scalable unit, which is built whole; 0: as
    many as a leaf takes. ``rack``: nodes that stay on one leaf of each rail together. ``planes``: fabrics of equal
    build beside each other, each with a link of every HCA; ``links_per_cable``: how the document counts theirs.
    ``manager_ports``: ports on leaves that subnet managers take, in the place of nodes. A design without ``rows`` is
    arithmetic alone, and its numbers may be others.
    """

    name: str
    title: str
    gpus_per_node: int
    rails: int
    radix: int
    rate: int
    source: str
    confidence: str
    unit: int = 0
    rack: int = 1
    planes: int = 1
    links_per_cable: int = 1
    manager_ports: int = 0
    network: str = INFINIBAND
    rows: tuple[Row, ...] = ()


_DOCS = "docs.nvidia.com/dgx-superpod"
_H100 = f"NVIDIA DGX SuperPOD H100 reference architecture ({_DOCS}/reference-architecture-scalable-infrastructure-h100)"
_B200 = f"NVIDIA DGX SuperPOD B200 reference architecture ({_DOCS}/reference-architecture-scalable-infrastructure-b200)"
_B300 = f"NVIDIA DGX SuperPOD B300 reference architecture ({_DOCS}/reference-architecture/scalable-infrastructure-b300)"
_B300_XDR = (
    "NVIDIA DGX SuperPOD B300 with Quantum-X800 reference architecture "
    f"({_DOCS}/reference-architecture/scalable-infrastructure-b300-xdr)"
)
_GB200 = (
    f"NVIDIA DGX SuperPOD GB200 reference architecture ({_DOCS}/reference-architecture-scalable-infrastructure-gb200): "
    "8 racks a unit, 18 compute trays and 72 GPUs a rack, NDR; its counts of switches are not in this table"
)


def _four(table: str) -> tuple[Row, ...]:
    """The compute fabric of one to four units of 32 nodes, the same in two documents."""
    return (
        Row(1, 31, 248, 8, 4, 0, (252, 256, 0), table, managed=True),
        Row(2, 63, 504, 16, 8, 0, (508, 512, 0), table, managed=True),
        Row(3, 95, 760, 24, 16, 0, (764, 768, 0), table, managed=True),
        Row(4, 127, 1016, 32, 16, 0, (1020, 1024, 0), table, managed=True),
    )


_FOUR = "Table 4, compute fabric component count"
_LARGER = "DGX SuperPOD Architecture, larger component counts"
_EXAMPLES = "Table 3, compute fabric components"

DESIGNS = {
    design.name: design
    for design in (
        Design(
            *("rail-fat-tree", "rail-optimised fat tree", 8, 8, 64, 400),
            "arithmetic: C. Leiserson, Fat-trees (IEEE Transactions on Computers, 1985); HCA i of a node on leaf i",
            "confirmed",
        ),
        Design(
            *("superpod-h100", "DGX SuperPOD H100", 8, 8, 64, 400, _H100, "confirmed"),
            unit=32,
            manager_ports=4,
            rows=_four(_FOUR),
        ),
        Design(
            *("superpod-b200", "DGX SuperPOD B200", 8, 8, 64, 400, _B200, "confirmed"),
            unit=32,
            manager_ports=4,
            rows=(
                *_four(_FOUR),
                Row(2, 64, 512, 16, 8, 0, (512, 512, 0), _LARGER),
                Row(4, 128, 1024, 32, 16, 0, (1024, 1024, 0), _LARGER),
                Row(8, 256, 2048, 64, 32, 0, (2048, 2048, 0), _LARGER),
                Row(16, 512, 4096, 128, 128, 64, (4096, 4096, 4096), _LARGER),
                Row(32, 1024, 8192, 256, 256, 128, (8192, 8192, 8192), _LARGER),
                Row(64, 2048, 16384, 512, 512, 256, (16384, 16384, 16384), _LARGER),
            ),
        ),
        Design(
            *("superpod-b300-xdr", "DGX SuperPOD B300, Quantum-X800", 8, 8, 144, 800, _B300_XDR, "confirmed"),
            unit=72,
            rows=(
                Row(1, 72, 576, 8, 4, 0, (576, 576, 0), _EXAMPLES),
                Row(2, 144, 1152, 16, 8, 0, (1152, 1152, 0), _EXAMPLES),
                Row(4, 288, 2304, 32, 18, 0, (2304, 2304, 0), _EXAMPLES),
                Row(8, 576, 4608, 64, 36, 0, (4608, 4608, 0), _EXAMPLES),
                Row(
                    *(18, 1296, 9216, 144, 72, 0, (10368, 10368, 0), _EXAMPLES),
                    wrong=(("gpus", "1296 nodes of 8 have 10368, as many as it counts cables"),),
                ),
            ),
        ),
        # Each port of 800 Gb/s is two links of 400, one to either plane; the document counts such ports and their
        # cables, so a switch of 64 of them has 128.
        Design(
            *("superpod-b300", "DGX SuperPOD B300, Spectrum-X in two planes", 8, 8, 128, 400, _B300, "confirmed"),
            unit=64,
            planes=2,
            links_per_cable=2,
            network=ETHERNET,
            rows=(
                Row(1, 64, 512, 16, 8, 0, (512, 512, 0), _LARGER),
                Row(2, 128, 1024, 32, 16, 0, (1024, 1024, 0), _LARGER),
                Row(4, 256, 2048, 64, 32, 0, (2048, 2048, 0), _LARGER),
                Row(8, 512, 4096, 128, 64, 0, (4096, 4096, 0), _LARGER),
                Row(16, 1024, 8192, 256, 128, 0, (8192, 8192, 0), _LARGER),
            ),
        ),
        # Of which trays share a leaf the document's text says nothing: here whole racks do.
        Design(
            *("nvl72", "racks of 72 GPUs, by rail and whole racks", 4, 4, 64, 400, _GB200, "arithmetic"),
            unit=144,
            rack=18,
        ),
    )
}
