# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels of the nodes, from their facts and their plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....module_utils._areas.machine.facts import NVIDIA
from . import dra, names
from .nodes import Node
from .options import CLAIMED_GPUS, HOST, NONE, OPERATOR, Options
from .pools import Pool
from .sources import Sources

CLASS = "ibready.io/class"
_DIGEST = 16


def manifests(pools: Sequence[Pool], sources: Sources, options: Options) -> list[tuple[Node, dict[str, Any]]]:
    """A patch for each node, in the order of their names: nothing but labels."""
    found = [
        (
            node,
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node.name, "labels": labels(pool, node, sources, options)},
            },
        )
        for pool in pools
        for node in pool.nodes
    ]
    return sorted(found, key=lambda item: item[0].name)


def labels(pool: Pool, node: Node, sources: Sources, options: Options) -> dict[str, str]:
    """The labels of one node. Those of NFD are NFD's to set, wherever it runs."""
    slowest = min(rail.gbps for rail in node.rails)
    rdma, driver = node.stack.get("rdma", {}), node.stack.get("driver", {})
    found = {
        CLASS: pool.label,
        "ibready.io/plan": node.digest[:_DIGEST],
        "ibready.io/link-layer": pool.layer,
        "ibready.io/rails": str(len(node.rails)),
        "ibready.io/rail-gbps": f"{slowest:g}" if slowest else "",
        "ibready.io/gpus": str(node.gpus),
        "ibready.io/gpu-model": "+".join(node.platform.gpus),
        "ibready.io/ofed": _by(sources.ofed, f"{rdma.get('flavour', '')} {rdma.get('version', '')}"),
        "ibready.io/gpu-driver": _by(sources.driver, driver.get("version", "")),
    }
    if CLAIMED_GPUS in options.dra and sources.driver == OPERATOR and node.gpus:
        found[dra.KUBELET_PLUGIN] = "true"
    if options.nfd == NONE:
        vendors = {rail.vendor for rail in node.rails} | ({NVIDIA} if node.gpus else set())
        found |= {f"feature.node.kubernetes.io/pci-{vendor}.present": "true" for vendor in sorted(vendors)}
    return {key: names.value(text) for key, text in found.items() if names.value(text)}


def _by(source: str, version: str) -> str:
    """Who brings a part; of the host's, what the plan says."""
    return version.strip() or source if source == HOST else source
