# SPDX-License-Identifier: GPL-3.0-or-later
"""NicClusterPolicy: what the Network Operator deploys on the nodes that these manifests are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import hostdev, networks, shared
from .labels import CLASS
from .names import KubernetesError
from .operators import Operators
from .options import HOSTDEV, OPERATOR, Options
from .pools import Pool
from .shared import Shared
from .sources import Sources

# The operator knows one policy, by this name.
_NAME = "nic-cluster-policy"
_NV_IPAM = "nv-ipam"
# Seconds; those of the operator's own example.
_PROBES = {"startupProbe": (10, 10), "livenessProbe": (30, 30), "readinessProbe": (10, 30)}


def policy(
    pools: Sequence[Pool],
    resources: Iterable[Shared],
    sources: Sources,
    chosen: Operators,
    options: Options,
) -> dict[str, Any]:
    """The policy; KubernetesError where nobody said where its images are."""
    if not options.registry:
        raise KubernetesError(
            "nobody said where the Network Operator's images are. Next: kubernetes_rdma_registry, "
            "the repository that its installation guide names, or a mirror of it"
        )
    listed = list(resources)
    spec: dict[str, Any] = {"nodeAffinity": _affinity(pools)}
    if sources.ofed == OPERATOR:
        spec["ofedDriver"] = _ofed(chosen, options)
    if listed:
        spec["rdmaSharedDevicePlugin"] = {
            **_image("k8s-rdma-shared-dev-plugin", chosen, options),
            "config": shared.config(listed, options.pods_per_node),
        }
    if options.plugin == HOSTDEV:
        spec["sriovDevicePlugin"] = {
            **_image("sriov-network-device-plugin", chosen, options),
            "config": hostdev.config(pools),
        }
    if networks.needed(pools, options):
        spec["secondaryNetwork"] = {
            "cniPlugins": _image("plugins", chosen, options),
            "multus": _image("multus-cni", chosen, options),
        }
        if options.ipam.get("type") == _NV_IPAM:
            spec["nvIpam"] = {
                **_image("nvidia-k8s-ipam", chosen, options),
                "enableWebhook": False,
            }
    spec["tolerations"] = [{"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}]
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": _NAME},
        "spec": spec,
    }


def _affinity(pools: Sequence[Pool]) -> dict[str, Any]:
    wanted = {
        "key": CLASS,
        "operator": "In",
        "values": sorted(pool.label for pool in pools),
    }
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}


def _image(name: str, chosen: Operators, options: Options) -> dict[str, Any]:
    return {
        "image": name,
        "repository": options.registry,
        "version": chosen.network.get("images"),
    }


def _ofed(chosen: Operators, options: Options) -> dict[str, Any]:
    probes = {name: {"initialDelaySeconds": first, "periodSeconds": then} for name, (first, then) in _PROBES.items()}
    return {
        "image": "doca-driver",
        "repository": options.registry,
        "version": chosen.network.get("driver_image"),
        # A new driver unloads the old one below running jobs, so it is rolled out by hand.
        "upgradePolicy": {"autoUpgrade": False},
        **probes,
    }
