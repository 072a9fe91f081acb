# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes between a host that is well and the containers that run on it. Data only.

A job's log shows what its own container lacked, so these rows explain it.
"""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    BLIND,
    NO_GDR,
    RAIL_LOST,
    RISK,
    SKEW,
    STOPS,
    TCP,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_TCP = ("nccl.log.network", "nccl.log.gdr", "nccl.log.hcas", "nccl.log.mixed")
_VERBS = ("container.verbs.opens",)
# What does not move between containers that lack devices, a provider or memory.
_MOVED = tuple(f"container.rdma.{one}" for one in ("verbs", "cm", "bandwidth", "latency"))
_ENGINES = ("systemctl", "--no-pager", "status", "docker", "containerd", "podman")

ROWS = (
    Row(
        "container.engine",
        "the container engine does not answer",
        STOPS,
        ("container.engine.usable",),
        look(*_ENGINES, hands="start the engine's service, or install it (container_runtime)"),
        fleet=True,
    ),
    Row(
        "container.image",
        "the jobs' container does not start",
        STOPS,
        ("container.image.runs",),
        look(*_ENGINES, hands="do what the engine says: fetch the image, drop what is gone"),
        fleet=True,
    ),
    Row(
        "container.devices",
        "the container is not given the RDMA devices, or not let at them",
        TCP,
        ("container.device.uverbs", "container.device.opens"),
        look(
            *("ls", "-l", "/dev/infiniband"),
            hands="give jobs every uverbs device with --device or by CDI, not as a volume",
        ),
        here=(*_VERBS, *_MOVED, "container.device.rdma_cm"),
        far=_TCP,
        fleet=True,
    ),
    Row(
        "container.rdma_cm",
        "the container has no RDMA connection manager",
        RISK,
        ("container.device.rdma_cm",),
        look("ls", "-l", "/dev/infiniband", hands="add --device=/dev/infiniband/rdma_cm"),
        fleet=True,
    ),
    Row(
        "container.library",
        "the image has no RDMA user space, or none for these HCAs",
        TCP,
        ("container.verbs.library", "container.verbs.provider"),
        look("ibv_devinfo", hands="add to the image what the finding's next step names"),
        here=(*_VERBS, *_MOVED),
        far=_TCP,
        fleet=True,
    ),
    Row(
        "container.too_old",
        "the image's rdma-core is older than the HCAs",
        RAIL_LOST,
        ("container.rdma.version",),
        look("ibv_devinfo", hands="take RDMA user space from DOCA, or a younger distribution"),
        here=(*_VERBS, *_MOVED),
        far=_TCP,
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "container.opens",
        "libibverbs cannot open the RDMA devices in the container",
        TCP,
        _VERBS,
        look("ibv_devinfo", hands="run ibv_devinfo -v in the container; do what it says first"),
        far=_TCP,
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "container.memlock",
        "a container's user may lock too little memory for RDMA",
        STOPS,
        ("container.limit.memlock",),
        look(
            *("grep", "locked", "/proc/1/limits"),
            hands="raise the engine's own default for containers, then restart it when drained",
        ),
        here=_MOVED,
        far=("nccl.log.errors~create_(cq|qp)_failed|reg_mr_failed",),
        fleet=True,
    ),
    Row(
        "container.nofile",
        "a container may open too few files",
        RISK,
        ("container.limit.nofile",),
        look(*_ENGINES, hands="raise the engine's own default for containers"),
        fleet=True,
    ),
    Row(
        "container.shm",
        "/dev/shm of the container is too small for NCCL",
        STOPS,
        ("container.shm.size",),
        look("df", "-h", "/dev/shm", hands="start jobs with --ipc=host or --shm-size=16g"),
        far=("nccl.log.errors",),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "container.network",
        "the container's network does not lead to the other hosts",
        STOPS,
        ("container.network.path",),
        look(
            *("ip", "-brief", "address"),
            hands="start jobs with --network=host, or give pods an RDMA network",
        ),
        far=("nccl.log.bootstrap", "nccl.log.errors~ifname|connect_failed|socket"),
        fleet=True,
    ),
    Row(
        "container.gpus",
        "the container does not get the host's GPUs",
        STOPS,
        ("container.gpu.*",),
        look("nvidia-ctk", "cdi", "list", hands="have the toolkit write its CDI file anew"),
        fleet=True,
    ),
    Row(
        "container.nccl_env",
        "the image's environment keeps NCCL from what the host has",
        NO_GDR,
        ("container.nccl.env",),
        look("grep", "-n", "NCCL_", "/etc/nccl.conf", hands="take the variable out of its ENV"),
        far=_TCP,
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "container.nccl_conf",
        "the host's nccl.conf does not reach the container",
        SKEW,
        ("container.nccl.conf",),
        look(
            *("ls", "-l", "/etc/nccl.conf"),
            hands="start jobs with --volume=/etc/nccl.conf:/etc/nccl.conf:ro, mode 0644",
        ),
        far=("nccl.log.hcas", "nccl.log.mixed", "nccl.log.bootstrap"),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "container.nccl_library",
        "the image shows no NCCL",
        BLIND,
        ("container.nccl.library",),
        look("ldconfig", "-p", hands="nothing, where the framework carries NCCL inside"),
        fleet=True,
        confidence=POSSIBLE,
    ),
)
