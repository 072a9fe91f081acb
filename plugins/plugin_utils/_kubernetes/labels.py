# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels of the nodes, from their facts and their plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import NVIDIA
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes import names
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.nodes import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.options import (
    HOST,
    NONE,
    Options,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.pools import Pool
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.sources import Sources

CLASS = "ibready.io/class"
_DIGEST = 16


def manifests(
    pools: Sequence[Pool], sources: Sources, options: Options
) -> list[tuple[Node, dict[str, Any]]]:
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
    return sorted(found, key=lambda one: one[0].name)


def labels(pool: Pool, node: Node, sources: Sources, options: Options) -> dict[str, str]:
    """The labels of one node. Those of NFD are NFD's to set, wherever it runs."""
    slowest = min(one.gbps for one in node.rails)
    rdma, driver = node.stack.get("rdma", {}), node.stack.get("driver", {})
    found = {
        CLASS: pool.label,
        "ibready.io/plan": node.digest[:_DIGEST],
        "ibready.io/link-layer": pool.layer,
        "ibready.io/rails": str(len(node.rails)),
        "ibready.io/rail-gbps": f"{slowest:g}" if slowest else "",
        "ibready.io/gpus": str(node.gpus),
        "ibready.io/gpu-model": "+".join(node.platform.gpus),
        "ibready.io/ofed": _by(
            sources.ofed, f"{rdma.get('flavour', '')} {rdma.get('version', '')}"
        ),
        "ibready.io/gpu-driver": _by(sources.driver, driver.get("version", "")),
    }
    if options.nfd == NONE:
        vendors = {one.vendor for one in node.rails} | ({NVIDIA} if node.gpus else set())
        found |= {
            f"feature.node.kubernetes.io/pci-{one}.present": "true" for one in sorted(vendors)
        }
    return {key: names.value(text) for key, text in found.items() if names.value(text)}


def _by(source: str, version: str) -> str:
    """Who brings a part; of the host's, what the plan says."""
    return version.strip() or source if source == HOST else source
