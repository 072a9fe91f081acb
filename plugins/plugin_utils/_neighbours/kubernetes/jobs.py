# SPDX-License-Identifier: GPL-3.0-or-later
"""A test pod, a PyTorchJob and an MPIJob for the nodes of a pool."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from . import dra, pods, script
from .networks import Network
from .options import Options
from .pools import Pool

_TORCH = ("torchrun", f"{pods.FOLDER}/allreduce.py")
_MPI = ("all_reduce_perf", "-b", "8M", "-e", "8G", "-f", "2", "-g", "1")
_TORCH_PORT = 23456
_SSHD = f"/usr/sbin/sshd -De -p {script.SSH_PORT}"
_SSH_FILE = "/etc/ssh/ssh_config.d/ibready.conf"


def torch_name(pool: Pool) -> str:
    """The PyTorchJob of the pool."""
    return f"ibready-torch-{pool.slug}"


def mpi_name(pool: Pool) -> str:
    """The MPIJob of the pool."""
    return f"ibready-mpi-{pool.slug}"


def claimed(pools: Sequence[Pool], options: Options) -> Iterator[dict[str, Any]]:
    """What the claims of all these pods are made from."""
    gpus = [number for pool in pools for number in (min(1, pool.gpus), pool.gpus)]
    racks = [pool for pool in pools if dra.in_domain(pool, options)]
    domains = {name(pool): count(pool, options) for pool in racks for name in (torch_name, mpi_name)}
    return dra.manifests(options, gpus, domains)


def test_pod(pool: Pool, network: Network, options: Options) -> dict[str, Any]:
    """One pod that looks and ends: with one GPU where there are any."""
    name = f"ibready-test-{pool.slug}"
    made = pods.template(
        pool,
        network,
        options,
        job=name,
        container="check",
        command=["sh", f"{pods.FOLDER}/check.sh"],
        gpus=min(1, pool.gpus),
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": options.namespace, **made["metadata"]},
        "spec": {"restartPolicy": "Never", **made["spec"]},
    }


def pytorch_job(pool: Pool, network: Network, options: Options) -> dict[str, Any]:
    """A job of the training operator on so many of the pool's nodes, every GPU a rank."""
    name = torch_name(pool)
    command = f"{pods.CHECK} && exec {shlex.join(options.torch_command or _TORCH)}"
    made = pods.template(
        pool,
        network,
        options,
        job=name,
        container="pytorch",
        command=["sh", "-c", command],
        gpus=pool.gpus,
        ports=[{"name": "pytorchjob-port", "containerPort": _TORCH_PORT}],
        domain=name if dra.in_domain(pool, options) else "",
    )
    replica = {"restartPolicy": "Never", "template": made}
    replicas: dict[str, Any] = {"Master": {"replicas": 1, **replica}}
    others = count(pool, options) - 1
    if others:
        replicas["Worker"] = {"replicas": others, **replica}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": options.namespace},
        "spec": {
            "nprocPerNode": str(max(1, pool.gpus)),
            "runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "None"},
            "pytorchReplicaSpecs": replicas,
        },
    }


def mpi_job(pool: Pool, network: Network, options: Options) -> dict[str, Any]:
    """A job of the MPI operator: sshd in the workers, mpirun in the launcher."""
    name = mpi_name(pool)
    nodes, slots = count(pool, options), max(1, pool.gpus)
    worker = pods.template(
        pool,
        network,
        options,
        job=name,
        container="worker",
        command=["sh", "-c", f"{pods.CHECK} && exec {_SSHD}"],
        gpus=pool.gpus,
        domain=name if dra.in_domain(pool, options) else "",
    )
    # Processes that sshd starts see nothing of the container's environment.
    passed = [word for entry in pods.nccl(pool, network, options).env for word in ("-x", entry)]
    launcher = {
        "name": "launcher",
        "image": options.image,
        "command": ["mpirun"],
        "args": [
            *("-np", str(nodes * slots), "--bind-to", "none", "--map-by", "slot"),
            *("-x", "PATH", "-x", "LD_LIBRARY_PATH", *passed),
            *(options.mpi_command or _MPI),
        ],
        "env": [{"name": key, "value": value} for key, value in pods.nccl(pool, network, options).env.items()],
        "volumeMounts": [{"name": "ibready", "mountPath": _SSH_FILE, "subPath": "ssh_config", "readOnly": True}],
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": options.namespace},
        "spec": {
            "slotsPerWorker": slots,
            "runPolicy": {"backoffLimit": 4, "cleanPodPolicy": "Running"},
            "mpiReplicaSpecs": {
                "Launcher": {
                    "replicas": 1,
                    "restartPolicy": "OnFailure",
                    "template": {
                        "spec": {
                            "containers": [_without_empty(launcher)],
                            "volumes": [{"name": "ibready", "configMap": {"name": pods.CONFIG}}],
                        }
                    },
                },
                "Worker": {"replicas": nodes, "restartPolicy": "Never", "template": worker},
            },
        },
    }


def _without_empty(container: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in container.items() if value}


def count(pool: Pool, options: Options) -> int:
    """The nodes of a job."""
    return min(options.job_nodes, len(pool.nodes))
