# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods with rails: what a test pod and the workers of jobs have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._expect.nccl_policy import HCA, SOCKET
from ....module_utils._nccl.derive import TOPO
from ....module_utils._nccl.derive_roce import INDEX
from . import dra, names, script
from .labels import CLASS
from .networks import Network
from .options import CLAIMED_GPUS, SRIOV, Options
from .pools import Pool

GPU = "nvidia.com/gpu"
CONFIG = "ibready-rdma"
FOLDER = "/ibready"
CHECK = f"sh {FOLDER}/check.sh"
_NCCL_CONF = "/etc/nccl.conf"
# The pod's own interface, by the convention of the kubelet's network plugins.
_POD_INTERFACE = "=eth0"
NOTES = (
    "Locked memory comes from the container engine (LimitMEMLOCK of its service), which no "
    "manifest can raise. IPC_LOCK lifts the limit for root; for other users it is inert.",
    "RDMA needs no huge pages. Requests of extended resources equal their limits, as they have to.",
    "Where Pod Security Admission is enforced, the namespace has to allow privileged pods: "
    "IPC_LOCK, the node's network and its files are beyond its other levels.",
)


@dataclass(frozen=True)
class Nccl:
    """Where a pod's settings of NCCL come from. ``mount``: the node's nccl.conf. ``env``: what is
    not in it, or cannot be right in it."""

    mount: bool
    env: Mapping[str, str]
    remarks: tuple[str, ...] = ()


def nccl(pool: Pool, network: Network, options: Options) -> Nccl:
    """The settings of this pool's pods."""
    by_file = bool(options.nccl_conf and not network.attached)
    without = [node.host for node in pool.nodes if not node.nccl]
    remarks = []
    if by_file and without and len(without) < len(pool.nodes):
        remarks.append(
            f"{names.shown(without)}: no line for nccl.conf could be derived, so no pod of class "
            f"{pool.group} gets the file"
        )
    if any(line.name == TOPO for node in pool.nodes for line in node.nccl):
        remarks.append(
            f"class {pool.group}: {TOPO} names a file of the host, which is in no pod, so that "
            "NCCL there goes by what it sees itself"
        )
    mount = by_file and not without
    env = {} if mount else _common(pool, network, options, remarks)
    if not network.host and (mount or pool.gpus):
        env[SOCKET] = _POD_INTERFACE
    return Nccl(mount, dict(sorted(env.items())), tuple(remarks))


def _common(pool: Pool, network: Network, options: Options, remarks: list[str]) -> dict[str, str]:
    """The lines that all nodes of the pool have alike, and that hold in a pod."""
    lines = [{setting.name: setting.value for setting in node.nccl} for node in pool.nodes]
    apart = {TOPO} if network.host else {TOPO, INDEX, SOCKET}
    if options.plugin == SRIOV:
        apart.add(HCA)
    every = sorted(set().union(*lines) - apart)
    same = {name for name in every if len({line.get(name) for line in lines}) == 1}
    for name in every:
        if name not in same:
            remarks.append(f"class {pool.group}: {name} differs between nodes, so no pod gets it")
    return {name: lines[0][name] for name in same}


def config_map(options: Options) -> dict[str, Any]:
    """What runs inside of the pods."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG, "namespace": options.namespace},
        "data": {
            "allreduce.py": script.ALLREDUCE,
            "check.sh": script.CHECK,
            "ssh_config": script.SSH_CONFIG,
        },
    }


def template(
    pool: Pool,
    network: Network,
    options: Options,
    *,
    job: str,
    container: str,
    command: Sequence[str],
    gpus: int,
    ports: Sequence[Mapping[str, Any]] = (),
    domain: str = "",
) -> dict[str, Any]:
    """The template of a pod on a node of the pool, alone of its job on the node. ``domain``: whose ComputeDomain it
    joins."""
    settings = nccl(pool, network, options)
    claims = dra.claims(options, gpus, domain)
    resources = {name: str(count) for name, count in sorted(network.resources.items())}
    if gpus and CLAIMED_GPUS not in options.dra:
        resources[GPU] = str(gpus)
    volumes, mounts = _volumes(options, mount=settings.mount)
    env = {**settings.env, "IBREADY_GPUS": str(gpus), "IBREADY_RAILS": str(len(pool.rails))}
    entry: dict[str, Any] = {
        "name": container,
        "image": options.image,
        "command": list(command),
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }
    if ports:
        entry["ports"] = [dict(port) for port in ports]
    wanted: dict[str, Any] = {"limits": dict(resources), "requests": dict(resources)}
    if claims.container:
        wanted["claims"] = [dict(claim) for claim in claims.container]
    entry |= {
        "resources": wanted,
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": mounts,
    }
    metadata: dict[str, Any] = {"labels": dra.job_label(job)}
    if network.attached:
        metadata["annotations"] = {"k8s.v1.cni.cncf.io/networks": ", ".join(network.attached)}
    spec: dict[str, Any] = {}
    if network.host:
        spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    spec |= {
        "nodeSelector": {CLASS: pool.label},
        "affinity": {**_apart(job), **dra.together(job, domain)},
        "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [entry],
        "volumes": volumes,
    }
    if claims.pod:
        spec["resourceClaims"] = [dict(claim) for claim in claims.pod]
    return {"metadata": metadata, "spec": spec}


def _apart(job: str) -> dict[str, Any]:
    """No two pods of the job on one node."""
    term = {
        "labelSelector": {"matchLabels": dra.job_label(job)},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _volumes(options: Options, *, mount: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    volumes: list[dict[str, Any]] = [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": options.shm}},
        {"name": "ibready", "configMap": {"name": CONFIG}},
    ]
    mounts: list[dict[str, Any]] = [
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "ibready", "mountPath": FOLDER, "readOnly": True},
    ]
    if mount:
        volumes.append({"name": "nccl-conf", "hostPath": {"path": _NCCL_CONF, "type": "File"}})
        mounts.append({"name": "nccl-conf", "mountPath": _NCCL_CONF, "readOnly": True})
    return volumes, mounts
