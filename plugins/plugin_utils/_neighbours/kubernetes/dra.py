# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic resource allocation: GPUs by claims, and ComputeDomains, by NVIDIA's DRA driver.

Sources: NVIDIA/k8s-dra-driver-gpu, its CRD of ComputeDomain (5a0112cb), its chart's values (a0b61536) and README; its
installation guide with the GPU Operator; NVIDIA's example of nvbandwidth in a ComputeDomain, for the clique.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._plan.matrix.versions import within
from . import names
from .names import KubernetesError
from .options import CLAIMED_GPUS, DOMAINS, OPERATOR, Options
from .pools import Pool
from .sources import Sources

# What the GPU Operator 26.7 itself deploys, by its page about DRA.
CHART = "0.4.1"
NAMESPACE = "nvidia-dra-driver-gpu"
# By this the operator's driver manager knows the pods of the DRA driver, and evicts them before a driver goes.
KUBELET_PLUGIN = "nvidia.com/dra-kubelet-plugin"
_EVICTION = "NODE_LABEL_FOR_GPU_POD_EVICTION"
_CLASS = "gpu.nvidia.com"
_CLIQUE = "nvidia.com/gpu.clique"
# The role's word for hosts on which jobs bring IMEX.
_JOBS_IMEX = "job"
# Claims of the API that is rendered; and with what the driver runs at all.
_NEEDS = {CLAIMED_GPUS: (">=1.34", "resource.k8s.io/v1"), DOMAINS: (">=1.32", "the DRA driver")}


@dataclass(frozen=True)
class Claims:
    """``pod``: its resourceClaims. ``container``: which of them it uses."""

    pod: tuple[Mapping[str, str], ...] = ()
    container: tuple[Mapping[str, str], ...] = ()


def refuse(pools: Sequence[Pool], options: Options) -> None:
    """KubernetesError where the site's wish cannot be."""
    for wish in options.dra:
        needed, what = _NEEDS[wish]
        if options.kubernetes_version and not within(options.kubernetes_version, needed):
            raise KubernetesError(
                f"kubernetes_rdma_dra has {wish}, and Kubernetes {options.kubernetes_version} is none of those "
                f"({needed}) that have {what}. Next: leave it out, or upgrade the cluster"
            )
    if options.dra and not any(pool.gpus for pool in pools):
        raise KubernetesError("kubernetes_rdma_dra is about GPUs, and no node has any. Next: leave it out")
    if DOMAINS not in options.dra:
        return
    racks = [pool for pool in pools if in_domain(pool, options)]
    if not racks:
        raise KubernetesError(
            f"kubernetes_rdma_dra has {DOMAINS}, and in no class do all nodes tell of an NVLink domain. Next: leave it "
            "out, or have the driver loaded on all hosts of the racks (node_facts: nvlink_domain)"
        )
    own = [node.host for pool in racks for node in pool.nodes if node.imex != _JOBS_IMEX]
    if own:
        raise KubernetesError(
            f"{names.shown(own)}: a ComputeDomain brings IMEX for each job, and the host's own service would be a "
            f"second. Next: nvidia_driver_imex: {_JOBS_IMEX}, and `systemctl disable --now nvidia-imex` on these hosts"
        )


def in_domain(pool: Pool, options: Options) -> bool:
    """Whether the pool's jobs get a ComputeDomain."""
    return DOMAINS in options.dra and bool(pool.gpus) and all(node.domain for node in pool.nodes)


def claims(options: Options, gpus: int, domain: str) -> Claims:
    """What a pod claims. ``domain``: the job whose ComputeDomain it joins, "" for none."""
    found = {}
    if gpus and CLAIMED_GPUS in options.dra:
        found["gpus"] = _gpus_name(gpus)
    if domain:
        found["channel"] = _channel(domain)
    return Claims(
        tuple({"name": name, "resourceClaimTemplateName": template} for name, template in found.items()),
        tuple({"name": name} for name in found),
    )


def together(job: str, domain: str) -> dict[str, Any]:
    """The pods of a job with a ComputeDomain on nodes of one NVLink clique: only there a domain shares memory."""
    if not domain:
        return {}
    term = {"labelSelector": {"matchLabels": job_label(job)}, "topologyKey": _CLIQUE}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def job_label(job: str) -> dict[str, str]:
    """By what the pods of a job are known."""
    return {"ibready.io/job": job}


def manifests(options: Options, counts: Sequence[int], domains: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """What the pods' claims are made from. ``counts``: how many GPUs pods claim. ``domains``: job -> its nodes."""
    if CLAIMED_GPUS in options.dra:
        for count in sorted(set(counts) - {0}):
            exactly = {"deviceClassName": _CLASS, "allocationMode": "ExactCount", "count": count}
            requests = [{"name": "gpus", "exactly": exactly}]
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": _gpus_name(count), "namespace": options.namespace},
                "spec": {"spec": {"devices": {"requests": requests}}},
            }
    for job, nodes in domains.items():
        yield {
            "apiVersion": "resource.nvidia.com/v1beta1",
            "kind": "ComputeDomain",
            "metadata": {"name": job, "namespace": options.namespace},
            # Older drivers hold pods back until so many nodes have joined; newer ones tell the state by it.
            "spec": {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": _channel(job)}}},
        }


def _gpus_name(count: int) -> str:
    return f"ibready-{count}-gpu{'' if count == 1 else 's'}"


def _channel(job: str) -> str:
    return f"{job}-channel"


def driver_values(sources: Sources, options: Options) -> dict[str, Any]:
    """The values of the chart dra-driver-nvidia-gpu."""
    gpus = CLAIMED_GPUS in options.dra
    found: dict[str, Any] = {
        "nvidiaDriverRoot": "/run/nvidia/driver" if sources.driver == OPERATOR else "/",
        "resources": {"gpus": {"enabled": gpus}, "computeDomains": {"enabled": DOMAINS in options.dra}},
    }
    if gpus:
        # The chart asks for this word, for beside the device plugin every GPU would be given twice.
        found["gpuResourcesEnabledOverride"] = True
    if gpus and sources.driver == OPERATOR:
        found["kubeletPlugin"] = {"nodeSelector": {KUBELET_PLUGIN: "true"}}
    return found


def operator_values(found: dict[str, Any], sources: Sources, options: Options) -> dict[str, Any]:
    """The GPU Operator's values with what the DRA driver needs of it."""
    if CLAIMED_GPUS not in options.dra:
        return found
    found = {**found, "devicePlugin": {"enabled": False}}
    if sources.driver == OPERATOR:
        manager = {"env": [{"name": _EVICTION, "value": KUBELET_PLUGIN}]}
        found["driver"] = {**found["driver"], "manager": manager}
    return found


def remarks(options: Options) -> Iterator[str]:
    """What the site has to know."""
    if not options.dra:
        return
    if not options.kubernetes_version:
        needed = " and ".join(f"{wish} {_NEEDS[wish][0]}" for wish in options.dra)
        yield f"kubernetes_rdma_dra needs Kubernetes {needed}; kubernetes_rdma_kubernetes_version has that looked at"
    yield (
        "the CRDs of the training operator and the MPI operator have to know resourceClaimTemplateName, as those made "
        "from Kubernetes 1.31 and newer do; `kubectl apply --dry-run=server` says so"
    )
