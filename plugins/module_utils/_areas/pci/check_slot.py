# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether an HCA lies in the right slot: fast enough for its port, near to a GPU; no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.pcie import GENERATIONS, OTHER_SOCKET
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed
from ..._ground.link import ETHERNET, gbps
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..machine.facts import PciFunction
from .check_scope import CANNOT_TELL_VM, IN_VM, Scope, root_bus
from .facts import End

_NO_RAIL = "no HCA that is surely a rail"
_VM_NODES = "a virtual machine's NUMA nodes are the hypervisor's"
_NO_NODE = "the firmware does not say on which NUMA node it is (numa_node -1)"
_TOLD_WRONGLY = "compare `nvidia-smi topo -m`; correct the NUMA settings of the BIOS, or boot anew"
_ENOUGH = "as many rails as are expected lie near a GPU without it"
_LANE_GBPS = {generation.speed: generation.lane_gbps for generation in GENERATIONS}


def judge_slots(scope: Scope, expect: Expectations) -> Iterator[Check]:
    yield from _bandwidth(scope)
    yield from _numa(scope, expect)


def _bandwidth(scope: Scope) -> list[Check]:
    """A slot that promises less than the port carries: both ends of the link agree on it."""
    tally = Tally("pci.hca.slot", "HCAs")
    rdma, virtual = scope.facts.rdma, scope.machine.virtual.value
    if scope.hcas and virtual:
        tally.left_out("host", IN_VM)
    elif scope.hcas and rdma.value is None:
        tally.unsure("host", rdma.why or "nobody looked")
    else:
        for hca in scope.hcas:
            _slot(tally, hca, scope)
    return tally.checks("what the port carries", CAPABILITY, nothing=scope.no_hca)


def _slot(tally: Tally, function: PciFunction, scope: Scope) -> None:
    rdma = scope.rdma.get(function.address)
    vague = [other.name for other in scope.facts.rdma.value or () if other.address is None]
    if rdma is None and vague:
        tally.unsure(function.address, f"the evidence does not tell which function {vague[0]} is")
        return
    if rdma is None or rdma.gbps == 0:
        tally.left_out(function.address, "no active port")
        return
    if rdma.gbps is None:
        tally.unsure(scope.name(function.address), "the rate of its ports cannot be read")
        return
    # An adapter may lie in two slots to double what it carries; its functions share one GUID.
    card = [
        other for other in scope.hcas if other.address in scope.rdma and scope.rdma[other.address].image == rdma.image
    ]
    slots = {other.path[:-1]: _carries(other, scope) for other in (card if rdma.image else [function])}
    lost = next((slot for slot in slots.values() if slot.value is None), None)
    carried = sum(slot.value or 0.0 for slot in slots.values())
    if lost is not None:
        tally.unsure(scope.name(function.address), lost.why or "nobody looked")
    elif carried >= rdma.gbps:
        tally.good(function.address)
    elif scope.machine.virtual.value is None:
        tally.unsure(scope.name(function.address), CANNOT_TELL_VM)
    else:
        seen, due = f"{carried:.0f} Gb/s", gbps(rdma.gbps)
        cause = f"the slot of {rdma.name} can carry {seen}, its port runs at {due}"
        tally.fail(function.address, seen, due, CAPABILITY, cause=cause)


def _carries(function: PciFunction, scope: Scope) -> Reading[float]:
    """The Gb/s that the function's own link can do at most."""
    if len(function.path) < 2:
        return Reading(None, "the evidence does not tell which port lies above it")
    most = 1e9
    for address in function.path[-2:]:
        end = scope.facts.ends.get(address, End())
        if end.max_speed.value is None or end.max_width.value is None:
            return Reading(None, end.max_speed.why or end.max_width.why)
        most = min(most, _LANE_GBPS[end.max_speed.value] * end.max_width.value)
    return Reading(most)


def _numa(scope: Scope, expect: Expectations) -> list[Check]:
    tally = Tally("pci.hca.numa", "HCAs")
    nodes, mine = scope.facts.nodes, rails(scope, expect)
    nothing = (scope.no_hca if not scope.hcas else _NO_RAIL) if scope.gpus else scope.no_gpu
    if not scope.gpus or not mine:
        return tally.checks(nothing=nothing)
    if scope.machine.virtual.value:
        tally.left_out("host", _VM_NODES)
    elif nodes.missing:
        tally.left_out("host", "the kernel knows no NUMA nodes")
    elif nodes.value is None:
        tally.unsure("host", nodes.why or "nobody looked")
    elif lost := {gpu.numa_node for gpu in (*scope.gpus, *mine)} - {-1, *nodes.value}:
        tally.unsure("host", f"NUMA node {min(lost)} has devices and is not among the nodes")
    elif len(nodes.value) == 1:
        tally.left_out("host", "all on one NUMA node")
    else:
        _near(tally, mine, nodes.value, scope, expect)
    return tally.checks("a GPU on the same socket", CAPABILITY, nothing=nothing)


def rails(scope: Scope, expect: Expectations) -> tuple[PciFunction, ...]:
    """The HCAs of the expected link layer: InfiniBand ones where nobody says otherwise."""
    layer = expect.get("link_layer")
    ethernet = layer is not None and layer.value == ETHERNET
    found = tuple(hca for hca in scope.hcas if (hca.class_code[:4] == "0200") == ethernet)
    if expect.presumes_roce and expect.get("hcas") is None and expect.get("hcas_min") is None:
        # Nobody tells how many of the Ethernet ports are rails; those below a GPU's root bus are.
        return tuple(hca for hca in found if _beside(hca, scope) is not None)
    return found


def _beside(hca: PciFunction, scope: Scope) -> PciFunction | None:
    """A GPU below the same root bus."""
    return next((gpu for gpu in scope.gpus if root_bus(gpu) == root_bus(hca) != ""), None)


def _near(
    tally: Tally,
    mine: tuple[PciFunction, ...],
    nodes: tuple[int, ...],
    scope: Scope,
    expect: Expectations,
) -> None:
    gpu_nodes = {gpu.numa_node for gpu in scope.gpus}
    far = []
    for rail in mine:
        beside = _beside(rail, scope)
        if rail.numa_node == -1:
            tally.unsure(scope.name(rail.address), _NO_NODE)
        elif beside is not None and beside.numa_node not in (-1, rail.numa_node):
            tally.bad(_contradiction(rail, beside, scope))
        elif rail.numa_node in gpu_nodes or _same_socket(rail, gpu_nodes, nodes, scope):
            tally.good(rail.address)
        else:
            far.append(rail)
    wanted = expect.get("hcas") or expect.get("hcas_min")
    enough = wanted is not None and len(mine) - len(far) >= wanted.value
    for function in far:
        if enough:
            tally.left_out(function.address, _ENOUGH)
        elif -1 in gpu_nodes or scope.machine.virtual.value is None:
            if scope.machine.virtual.value is None:
                tally.unsure(scope.name(function.address), CANNOT_TELL_VM)
            else:
                blind = next(gpu for gpu in scope.gpus if gpu.numa_node == -1)
                tally.unsure(scope.name(function.address), f"GPU {blind.address}: {_NO_NODE}")
        else:
            tally.bad(_lonely(function, gpu_nodes, scope))


def _contradiction(rail: PciFunction, gpu: PciFunction, scope: Scope) -> Check:
    seen, due = f"NUMA node {rail.numa_node}", f"NUMA node {gpu.numa_node}"
    cause = (
        f"{scope.name(rail.address)} says {seen}, the GPU {gpu.address} below the same root bus {due}: "
        "the firmware tells one of them wrongly, or somebody wrote its numa_node"
    )
    return failed("pci.hca.numa", rail.address, seen, due, CAPABILITY, cause=cause, remedy=_TOLD_WRONGLY)


def _same_socket(hca: PciFunction, gpu_nodes: set[int], nodes: tuple[int, ...], scope: Scope) -> bool:
    row = scope.facts.distances.get(hca.numa_node, Reading()).value or ()
    reported = dict(zip(nodes, row))
    return any(reported.get(gpu_node, OTHER_SOCKET) < OTHER_SOCKET for gpu_node in gpu_nodes)


def _lonely(hca: PciFunction, gpu_nodes: set[int], scope: Scope) -> Check:
    here = ", ".join(str(gpu_node) for gpu_node in sorted(gpu_nodes))
    seen = f"NUMA node {hca.numa_node}"
    cause = f"{scope.name(hca.address)} is on {seen}, all GPUs are on node {here}"
    return failed("pci.hca.numa", hca.address, seen, f"NUMA node {here}", CAPABILITY, cause=cause)
