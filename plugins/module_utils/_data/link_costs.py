# SPDX-License-Identifier: GPL-3.0-or-later
"""What links cost a collective operation of NCCL: latencies, and shares of a line's rate. Data only.

``source``/``confidence`` as in gpus.yml; "measured" is the median of those published tables of
tests/unit/nccl_tables which are not held out. No constant is of one table or one site.
"""

from __future__ import annotations

from dataclasses import dataclass

RING, TREE, NVLS, NVLS_TREE = "ring", "tree", "nvls", "nvls_tree"
SIMPLE, LL128, LL = "simple", "ll128", "ll"
NVLINK, PCI, NET = "nvlink", "pci", "net"
RDMA, EFA, TCPX, TCP = "rdma", "efa", "tcpx", "tcp"


@dataclass(frozen=True)
class Generation:
    """What a GPU generation gets of its NVLink.

    ``ring``: share of a GPU's NVLink rate (as gpus.yml has it) that the bus bandwidth of a ring reaches.
    ``nvls``: the same for reductions within the switch, of the bytes of the operation (not of bus bandwidth);
    0 without. ``tree``: GB/s of a channel of a tree over one host, two hosts, and more.
    """

    name: str
    ring: float
    nvls: float
    tree: tuple[float, float, float]
    source: str
    confidence: str


_NCCL = "NVIDIA/nccl b6475625, src/graph/tuning.cc"
GENERATIONS = (
    Generation("Volta", 0.81, 0.0, (26.5, 18.5, 10.0), f"tree: {_NCCL}; ring: 3 tables, measured", "medium"),
    Generation("Ampere", 0.773, 0.0, (24.0, 23.6, 17.8), f"tree: {_NCCL}; ring: 6 tables, measured", "confirmed"),
    Generation("Hopper", 0.753, 0.576, (38.7, 41.4, 36.0), f"tree: {_NCCL}; 5 and 5 tables, measured", "confirmed"),
    Generation("Blackwell", 0.703, 0.503, (38.7, 41.4, 36.0), "tree: as Hopper; 9 and 6 tables, measured", "medium"),
)
# Of a generation that is not told.
UNKNOWN = Generation("", 0.703, 0.503, (24.0, 18.5, 10.0), "the least of those known", "medium")

# What is left of NVLS where its trees join several hosts or NVLink domains. source: 5 tables of Hopper; medium.
NVLS_TREE_SHARE = 0.9
# source: NCCL's tuning.cc, "busBw*.92" of a tree; confirmed.
TREE_SHARE = 0.92
# Share of its bandwidth that a protocol has: 120 bytes of 128, and a fourth of a ring's; NCCL's tuning.cc; confirmed.
PROTOCOL_SHARE = {SIMPLE: 1.0, LL128: 0.92, LL: 0.25}
# GB/s that LL has at most on one host, two, and more. source: llMaxBws there, the lesser of Intel and AMD; confirmed.
LL_MOST = (39.0, 22.5, 19.0)

# Microseconds: of an operation, by algorithm and protocol; and of a step, by link. source: NCCL's tuning.cc
# (baseLat, hwLat); confirmed. A tree's steps are without the chunk that NCCL adds, for FILL_US has it.
BASE_US = {
    (RING, LL): 6.6,
    (RING, LL128): 14.0,
    (RING, SIMPLE): 8.4,
    (TREE, LL): 6.8,
    (TREE, LL128): 14.0,
    (TREE, SIMPLE): 8.4,
    (NVLS, SIMPLE): 0.0,
    (NVLS_TREE, SIMPLE): 0.0,
}
STEP_US = {
    NVLINK: {
        (RING, LL): 0.6,
        (RING, LL128): 1.9,
        (RING, SIMPLE): 3.4,
        (TREE, LL): 0.6,
        (TREE, LL128): 1.25,
        (TREE, SIMPLE): 4.0,
        (NVLS, SIMPLE): 23.0,
        (NVLS_TREE, SIMPLE): 23.0,
    },
    PCI: {
        (RING, LL): 1.0,
        (RING, LL128): 2.5,
        (RING, SIMPLE): 5.7,
        (TREE, LL): 1.0,
        (TREE, LL128): 1.9,
        (TREE, SIMPLE): 5.7,
    },
    NET: {
        (RING, LL): 2.7,
        (RING, LL128): 4.0,
        (RING, SIMPLE): 14.0,
        (TREE, LL): 5.0,
        (TREE, LL128): 8.5,
        (TREE, SIMPLE): 14.0,
        (NVLS_TREE, SIMPLE): 14.0,
    },
}
# Microseconds that a pipeline takes to fill, by algorithm: with the best size of chunks an operation takes
# 2 * sqrt(fill * bytes / bandwidth) beside its latency and its bytes. source: the least error over all sizes of the
# tables that are not held out; medium.
FILL_US = {RING: 4.0, TREE: 32.0, NVLS: 8.0, NVLS_TREE: 16.0}


@dataclass(frozen=True)
class Transport:
    """``share`` of a rail's rate that arrives as payload, ``step_us`` that a step takes beside NCCL's own.
    ``unaided``: the share of it that is left where a GPU's memory is reached through the host's. ``source`` is of the
    first; the others are set by hand from the same tables (low)."""

    name: str
    share: float
    step_us: float
    unaided: float
    source: str
    confidence: str


TRANSPORTS = (
    Transport(RDMA, 0.95, 10.0, 0.7, "46 to 48 GB/s of 400 Gb/s, NVIDIA in NVIDIA/nccl-tests#290", "confirmed"),
    Transport(EFA, 0.95, 60.0, 0.7, "share as RDMA; latency and no GPUDirect: p4d, p3dn, by hand", "medium"),
    Transport(TCPX, 0.94, 120.0, 0.7, "5 tables of a3-highgpu and a3-megagpu, measured", "medium"),
    Transport(TCP, 0.94, 60.0, 1.0, "1,448 bytes of payload in 1,538 on the wire; latency as EFA", "medium"),
)
# Share of a slot's rate between GPUs that reach one another over PCI Express, and through the host's memory.
# source: inferred from the overhead of its packets; through memory: 5.2 GB/s of four A100 with NCCL_P2P_DISABLE=1,
# which is one table; medium.
PEER_SHARE = 0.78
BOUNCED_SHARE = 0.2

# By how much a healthy table is off what this model expects, at its largest size: four of five are nearer.
# Within a host; over a network; over NVLink of several racks; alltoall and sendrecv over a network.
# source: all healthy tables; medium, the last two low (4 and 6 tables).
SPREAD_HOST, SPREAD_NET, SPREAD_RACKS, SPREAD_POINTS = 0.08, 0.22, 0.3, 1.35
# The same below so many bytes, where what the launch of a kernel costs, and which algorithm NCCL takes, weigh more.
SPREAD_BELOW = ((4 << 20, 1.5), (64 << 20, 0.8), (512 << 20, 0.35))
