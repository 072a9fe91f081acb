# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes that only a benchmark shows (playbooks/bench.yml). Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    DETOUR,
    JITTER,
    MPI,
    NVLINK,
    RAIL_SLOW,
    SKEW,
    STOPS,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_SLOWER = ("fabric.bench.outlier", "fabric.bench.regression", "nccl.bench.*")

ROWS = (
    Row(
        "bench.data",
        "a benchmark got wrong sums: data is damaged on its way",
        STOPS,
        ("nccl.bench.data",),
        look(
            "nvidia-smi", "-q", "-d", "ECC", hands="take the host out of service; dcgmi diag -r 3"
        ),
        confidence=LIKELY,
    ),
    Row(
        "bench.node",
        "the GPUs of one host are slow among themselves",
        NVLINK,
        ("nccl.bench.node",),
        look(
            "nvidia-smi", "nvlink", "--status", hands="find the link, GPU or limit that holds it up"
        ),
        here=("nccl.bench.nodes", "nccl.bench.regression"),
        ratio=True,
        confidence=LIKELY,
    ),
    Row(
        "bench.gpudirect",
        "GPU memory does not reach the fabric at full rate",
        DETOUR,
        ("fabric.bench.gpudirect",),
        look("nvidia-smi", "topo", "-m", hands="see that ACS and IOMMU let GPU and HCA meet"),
        far=("nccl.bench.nodes", "nccl.bench.regression"),
        here=("fabric.bench.outlier", "fabric.bench.regression"),
        ratio=True,
        confidence=LIKELY,
    ),
    Row(
        "bench.bandwidth",
        "a rail carries less than its link rate promises",
        RAIL_SLOW,
        ("fabric.bench.bandwidth",),
        look(
            *("perfquery", "-x", "-C", "{device}", "-P", "{port}"),
            otherwise=("perfquery", "-x"),
            hands="compare slot, counters and cable with a rail that is fast",
        ),
        far=("nccl.bench.nodes", "nccl.bench.regression"),
        here=("fabric.bench.outlier", "fabric.bench.regression", "fabric.bench.latency"),
        ratio=True,
        confidence=LIKELY,
    ),
    Row(
        "bench.latency",
        "small messages of a host take too long",
        JITTER,
        ("fabric.bench.latency",),
        look("cpupower", "frequency-info", hands="look for what keeps its CPUs busy or asleep"),
        here=("fabric.bench.outlier", "fabric.bench.regression"),
        confidence=POSSIBLE,
    ),
    Row(
        "bench.mpi",
        "an all-reduce over MPI is wrong, or falls back to TCP",
        MPI,
        ("fabric.bench.mpi",),
        look("ucx_info", "-d", hands="see which transports UCX finds for the job's user"),
        confidence=LIKELY,
    ),
    Row(
        "bench.slower",
        "a host or the fabric is slower than its equals, or than before",
        SKEW,
        _SLOWER,
        look("ibstat", hands="compare stack, firmware and links with an equal host"),
        confidence=POSSIBLE,
    ),
)
