# SPDX-License-Identifier: GPL-3.0-or-later
"""The Helm values of the two operators, with nothing in them that the chart has by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._plan.matrix.model import Matrix
from . import gpudirect
from .names import KubernetesError
from .nodes import Node
from .operators import Operators
from .options import AUTO, DMABUF, HOST, NONE, OPERATOR, PEERMEM, SRIOV, Options
from .sources import Sources

# What the chart of the Network Operator gives SR-IOV resources by default; said, so that jobs and
# operator agree in any case.
SRIOV_PREFIX = "nvidia.com"


def gpu_operator(
    nodes: Sequence[Node], sources: Sources, chosen: Operators, options: Options, matrix: Matrix
) -> dict[str, Any]:
    """The values of the chart gpu-operator."""
    return {
        "nfd": {"enabled": options.nfd == OPERATOR},
        "cdi": {"enabled": True},
        "driver": _driver(nodes, sources, chosen, options, matrix),
        "toolkit": {"enabled": sources.toolkit == OPERATOR},
    }


def _driver(
    nodes: Sequence[Node], sources: Sources, chosen: Operators, options: Options, matrix: Matrix
) -> dict[str, Any]:
    if sources.driver != OPERATOR or chosen.stack is None:
        return {"enabled": False}
    mine = [node for node in nodes if node.gpus]
    kind = gpudirect.modules(mine, chosen.stack, matrix)
    way = gpudirect.way(mine, sources, chosen.stack, matrix)
    if options.peer_memory != AUTO:
        way = _wished(options.peer_memory, way, mine, sources, matrix)
    found: dict[str, Any] = {
        "enabled": True,
        "version": chosen.stack.get("driver"),
        "kernelModuleType": kind or AUTO,
        "rdma": {"enabled": way == PEERMEM},
    }
    if way == PEERMEM:
        found["rdma"]["useHostMofed"] = sources.ofed == HOST
    return found


def _wished(wish: str, way: str | None, nodes: Sequence[Node], sources: Sources, matrix: Matrix) -> str:
    """The way that the site wants, if it can be gone."""
    if wish == DMABUF and way != DMABUF:
        raise KubernetesError(
            "kubernetes_rdma_peer_memory is dmabuf, which needs the open kernel modules and "
            f"Linux {_kernel(matrix)} on every node. Next: kubernetes_rdma_peer_memory: auto"
        )
    if wish == PEERMEM and not gpudirect.has_symbols(nodes, sources):
        raise KubernetesError(
            "kubernetes_rdma_peer_memory is peermem, which is built against MLNX_OFED or "
            "DOCA-OFED, and the nodes have the distribution's own RDMA stack. Next: "
            "kubernetes_rdma_peer_memory: auto"
        )
    return wish


def _kernel(matrix: Matrix) -> str:
    way = matrix.get("cuda.gpudirect", DMABUF)
    return str(way.get("kernel")) if way else ""


def network_operator(chosen: Operators, options: Options) -> dict[str, Any]:
    """The values of the chart network-operator. One operator alone deploys NFD: the GPU Operator
    where there is one."""
    found: dict[str, Any] = {
        "nfd": {
            "enabled": options.nfd == OPERATOR and chosen.gpu is None,
            "deployNodeFeatureRules": options.nfd != NONE,
        },
        "sriovNetworkOperator": {"enabled": options.plugin == SRIOV},
    }
    if options.plugin == SRIOV:
        found["sriov-network-operator"] = {"operator": {"resourcePrefix": SRIOV_PREFIX}}
    return found
