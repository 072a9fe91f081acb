# SPDX-License-Identifier: GPL-3.0-or-later
"""What a topology carries: the bus bandwidth of NCCL's collective operations that may be expected of it. No I/O.

Latency and bandwidth of each algorithm and protocol that NCCL has, and the quickest of them, as NCCL itself chooses.
The bytes cross NVLink or PCI Express within a host (or an NVLink domain of several), and the rails between hosts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterator

from .._data import gpus, link_costs, pcie
from .._data.link_costs import LL, LL128, NET, NVLINK, NVLS, NVLS_TREE, PCI, RING, SIMPLE, TREE

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = "all_reduce", "all_gather", "reduce_scatter"
BROADCAST, REDUCE, ALLTOALL, SENDRECV = "broadcast", "reduce", "alltoall", "sendrecv"
COLLECTIVES = (ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, ALLTOALL, SENDRECV)
_POINT_TO_POINT = (ALLTOALL, SENDRECV)
_LANES = 16
_TRANSPORTS = {transport.name: transport for transport in link_costs.TRANSPORTS}
_GENERATIONS = {generation.name: generation for generation in link_costs.GENERATIONS}


@dataclass(frozen=True)
class Topology:
    """``gpus``, ``rails``: of each host. ``nvlink_gbs``: GB/s of all NVLinks of a GPU, each way, 0 without.
    ``nvls``: the switches reduce (NVLink SHARP). ``domain``: GPUs that share NVLink, where they are more than a
    host's. ``rail_gbps``: Gb/s of a rail. ``gdr``: the adapters reach the memory of GPUs. ``pcie_gbs``: GB/s of a
    GPU's slot, each way. ``peer``: GPUs reach one another over PCI Express. ``transport``: rdma, efa, tcpx or tcp.
    ``architecture``: of the GPUs, as gpus.py has it. ``algorithm``: the one that NCCL_ALGO leaves, "" for any."""

    hosts: int = 1
    gpus: int = 8
    nvlink_gbs: float = 0.0
    nvls: bool = False
    domain: int = 0
    rails: int = 0
    rail_gbps: float = 0.0
    gdr: bool = True
    pcie_gbs: float = 31.5
    peer: bool = True
    transport: str = link_costs.RDMA
    architecture: str = ""
    algorithm: str = ""

    @property
    def ranks(self) -> int:
        return max(self.hosts * self.gpus, 1)

    @property
    def together(self) -> int:
        """GPUs that need no network between them."""
        return min(max(self.gpus, self.domain if self.nvlink_gbs else 0, 1), self.ranks)

    @property
    def groups(self) -> int:
        return max(math.ceil(self.ranks / self.together), 1)


@dataclass(frozen=True)
class _Way:
    """One way of an operation: GB/s of bus bandwidth, microseconds before the first byte, and to fill the pipeline."""

    gbs: float
    latency_us: float
    fill_us: float


def of_gpu(name: str, hosts: int = 1, gpus_of_host: int = 8, rails: int = 0, rail_gbps: float = 0.0) -> Topology | None:
    """The topology of hosts with GPUs of a model of gpus.py, or of a name as nvidia-smi prints it; None: unknown.

    A model that has NVLink only by bridges is taken without; ``dataclasses.replace`` says what else is known.
    """
    names = [(len(start), gpu) for gpu in gpus.GPUS for start in (gpu.model, *gpu.names) if name.startswith(start)]
    if not names:
        return None
    gpu = max(names, key=lambda found: found[0])[1]
    links = min(gpu.links)
    lane = next((known.lane_gbps for known in pcie.GENERATIONS if known.number == gpu.pcie_gen), 0.0)
    generation = _GENERATIONS.get(gpu.architecture, link_costs.UNKNOWN)
    return Topology(
        hosts=hosts,
        gpus=gpus_of_host,
        nvlink_gbs=links * gpu.link_gbps,
        nvls=links > 0 and generation.nvls > 0,
        rails=rails,
        rail_gbps=rail_gbps,
        pcie_gbs=lane * _LANES / 8 or 31.5,
        architecture=gpu.architecture,
    )


def busbw(collective: str, size_bytes: int, topology: Topology) -> float:
    """GB/s of bus bandwidth, as nccl-tests counts it, for an operation of so many bytes; 0 where nothing is to do."""
    ways = list(_ways(collective, topology))
    if not ways or size_bytes <= 0:
        return 0.0
    factor = _factor(collective, topology.ranks)
    quickest = min(_microseconds(way, size_bytes, factor) for way in ways)
    return factor * size_bytes / quickest / 1000


def best(topology: Topology, collective: str = ALL_REDUCE) -> float:
    """GB/s of bus bandwidth that the largest operations come near to."""
    return max((way.gbs for way in _ways(collective, topology)), default=0.0)


def spread(topology: Topology, collective: str = ALL_REDUCE, size_bytes: int = 0) -> float:
    """The share by which a healthy job may be off: four of five published tables are nearer. 0 bytes: the largest."""
    small = next((share for below, share in link_costs.SPREAD_BELOW if 0 < size_bytes < below), 0.0)
    return max(small, _spread_of_largest(topology, collective))


def _spread_of_largest(topology: Topology, collective: str) -> float:
    if topology.groups > 1 and collective in _POINT_TO_POINT:
        return link_costs.SPREAD_POINTS
    if topology.groups > 1 and topology.together > topology.gpus:
        return link_costs.SPREAD_RACKS
    return link_costs.SPREAD_HOST if topology.groups == 1 and topology.nvlink_gbs else link_costs.SPREAD_NET


def told(measured: float, topology: Topology, collective: str = ALL_REDUCE, size_bytes: int = 0) -> str:
    """A sentence on what was measured; ``size_bytes`` 0: of the largest operations. "" where nothing is expected."""
    expected = busbw(collective, size_bytes, topology) if size_bytes > 0 else best(topology, collective)
    if expected <= 0:
        return ""
    off = spread(topology, collective, size_bytes)
    verdict = "less than" if measured < expected / (1 + off) else "more than" if measured > expected * (1 + off) else ""
    within = f"{verdict} healthy ones of its kind show" if verdict else "within what healthy ones of its kind show"
    return (
        f"{collective} carries {_short(measured)} GB/s where this topology carries about {_short(expected)} "
        f"({round(100 * measured / expected)} %), {within} "
        f"({_short(expected / (1 + off))} to {_short(expected * (1 + off))})"
    )


def _short(gbs: float) -> str:
    return f"{gbs:.0f}" if gbs >= 20 else f"{gbs:.1f}"


def _factor(collective: str, ranks: int) -> float:
    """Bus bandwidth by bytes and time; doc/PERFORMANCE.md of nccl-tests."""
    if collective == ALL_REDUCE:
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in (ALL_GATHER, REDUCE_SCATTER, ALLTOALL) else 1.0


def _microseconds(way: _Way, size: int, factor: float) -> float:
    bytes_us = factor * size / (way.gbs * 1000)
    return way.latency_us + bytes_us + 2 * math.sqrt(way.fill_us * bytes_us)


def _ways(collective: str, topology: Topology) -> Iterator[_Way]:
    if topology.ranks < 2 or collective not in COLLECTIVES:
        return
    inside, between = _inside(topology), _between(topology)
    if topology.groups > 1 and between <= 0:
        return
    if collective in _POINT_TO_POINT:
        yield _points(collective, topology, inside, between)
        return
    ring = min(inside, between) if topology.groups > 1 else inside
    if topology.algorithm in ("", RING):
        yield from _protocols(RING, ring, _ring_steps(collective, topology), topology)
    if collective == ALL_REDUCE and topology.algorithm in ("", TREE):
        tree = _tree(topology, inside, between)
        yield from _protocols(TREE, tree, _tree_steps(topology), topology)
    if collective == ALL_REDUCE and _reducing_switch(topology) and topology.algorithm in ("", NVLS, NVLS_TREE):
        yield _in_switch(topology, between)


def _generation(topology: Topology) -> link_costs.Generation:
    return _GENERATIONS.get(topology.architecture, link_costs.UNKNOWN)


def _transport(topology: Topology) -> link_costs.Transport:
    return _TRANSPORTS.get(topology.transport, _TRANSPORTS[link_costs.TCP])


def _inside(topology: Topology) -> float:
    """GB/s that a ring has between GPUs that need no network."""
    if topology.together == 1:
        return math.inf
    if topology.nvlink_gbs > 0:
        return topology.nvlink_gbs * _generation(topology).ring
    return topology.pcie_gbs * (link_costs.PEER_SHARE if topology.peer else link_costs.BOUNCED_SHARE)


def _between(topology: Topology) -> float:
    """GB/s that go out of a group of GPUs, and as many in."""
    transport = _transport(topology)
    share = transport.share * (1.0 if topology.gdr else transport.unaided)
    rails = topology.rails * topology.together / max(topology.gpus, 1)
    return rails * topology.rail_gbps / 8 * share


def _tree(topology: Topology, inside: float, between: float) -> float:
    """A tree sends half of a ring's bytes where two groups are all; a channel of it has its own limit."""
    ends = min(topology.groups, 3) - 1
    if ends:
        inside = min(inside, 2 * between if topology.groups == 2 else between)
    channels = max(topology.rails, 1) if ends else topology.gpus
    tree = min(inside * link_costs.TREE_SHARE, channels * _generation(topology).tree[ends])
    return tree * (topology.ranks - 1) / topology.ranks


def _reducing_switch(topology: Topology) -> bool:
    return topology.nvls and topology.nvlink_gbs > 0 and topology.together > 1 and _generation(topology).nvls > 0


def _in_switch(topology: Topology, between: float) -> _Way:
    """NVLink SHARP: the switches reduce within a group; trees join the groups."""
    factor = _factor(ALL_REDUCE, topology.ranks)
    switched = topology.nvlink_gbs * _generation(topology).nvls * factor
    if topology.groups == 1:
        return _Way(switched, link_costs.STEP_US[NVLINK][NVLS, SIMPLE], link_costs.FILL_US[NVLS])
    crossing = between * factor if topology.groups == 2 else between
    steps = 2 * math.ceil(math.log2(topology.groups))
    latency = link_costs.STEP_US[NVLINK][NVLS_TREE, SIMPLE] + steps * _net_step(topology, NVLS_TREE, SIMPLE)
    gbs = min(switched * link_costs.NVLS_TREE_SHARE, crossing)
    return _Way(gbs, latency, link_costs.FILL_US[NVLS_TREE] * steps / 2)


def _points(collective: str, topology: Topology, inside: float, between: float) -> _Way:
    """Every GPU to others: what crosses a group shares its rails; a neighbour's bytes have one GPU's share of them."""
    gbs = inside
    if topology.groups > 1:
        shared = between / topology.together
        if collective == ALLTOALL:
            shared *= (topology.ranks - 1) / (topology.ranks - topology.together)
        gbs = min(gbs, shared)
    step = (
        _net_step(topology, RING, SIMPLE) if topology.groups > 1 else link_costs.STEP_US[_link(topology)][RING, SIMPLE]
    )
    return _Way(gbs, link_costs.BASE_US[RING, SIMPLE] + step, link_costs.FILL_US[RING])


def _link(topology: Topology) -> str:
    return NVLINK if topology.nvlink_gbs else PCI


def _net_step(topology: Topology, algorithm: str, protocol: str) -> float:
    return link_costs.STEP_US[NET][algorithm, protocol] + _transport(topology).step_us


def _protocols(algorithm: str, gbs: float, steps: tuple[float, float], topology: Topology) -> Iterator[_Way]:
    """``steps``: within a group, and between groups."""
    within, across = steps
    for protocol in (SIMPLE, LL128, LL):
        if protocol == LL128 and not topology.nvlink_gbs:
            continue
        latency = link_costs.BASE_US[algorithm, protocol]
        latency += within * link_costs.STEP_US[_link(topology)][algorithm, protocol]
        latency += across * _net_step(topology, algorithm, protocol)
        carried = gbs * link_costs.PROTOCOL_SHARE[protocol]
        if protocol == LL:
            carried = min(carried, link_costs.LL_MOST[min(topology.groups, 3) - 1])
        fill = link_costs.FILL_US[algorithm] * max(topology.groups, 1) if protocol == SIMPLE else 0.0
        yield _Way(carried, latency, fill)


def _ring_steps(collective: str, topology: Topology) -> tuple[float, float]:
    ranks, groups = topology.ranks, topology.groups
    if collective == ALL_REDUCE:
        steps, across = 2 * (ranks - 1), 2 * groups if groups > 1 else 0
    elif collective in (ALL_GATHER, REDUCE_SCATTER):
        steps, across = ranks - 1, groups - 1
    else:
        steps, across = ranks, groups if groups > 1 else 0
    return max(steps - across, 0), across


def _tree_steps(topology: Topology) -> tuple[float, float]:
    return 2 * (topology.together - 1), 2 * math.ceil(math.log2(topology.groups)) if topology.groups > 1 else 0
