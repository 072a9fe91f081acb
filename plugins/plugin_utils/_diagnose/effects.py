# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cause does to a job, and how much of the bandwidth it costs. Data only.

``loss`` is the share of a job's bandwidth between nodes that is gone, from 0 to 1, where the
evidence of a cause does not say it better. Those are estimates, made to put causes in order: a
factor of two between two of them means something, a tenth does not.
"""

from __future__ import annotations

from dataclasses import dataclass

FIELD = "field reports"
INFERRED = "inferred"


@dataclass(frozen=True)
class Effect:
    """``says``: what a job suffers, in the operator's words. ``source``: where ``loss`` is from."""

    id: str
    says: str
    loss: float
    source: str


STOPS = Effect("stops", "jobs do not start on it, hang or abort", 1.0, INFERRED)
TCP = Effect(
    "tcp",
    "all that goes between nodes goes over TCP",
    0.9,
    f"{FIELD}: 4 GB/s over IPoIB where RDMA gives 12 and more (NVIDIA/nccl issue 465)",
)
NVLINK = Effect(
    "nvlink",
    "GPUs of one host speak over PCI Express instead of NVLink",
    0.8,
    f"{INFERRED}: PCIe 5.0 x16 against 18 NVLinks of 25 GB/s",
)
NO_GDR = Effect(
    "no_gdr",
    "all that goes between nodes is copied through host memory",
    0.6,
    f"{FIELD}: twice (NVIDIA/nccl-tests issue 29) to ten times slower (NVIDIA/nccl issue 1676)",
)
DETOUR = Effect(
    "detour",
    "what GPU and HCA have for each other takes the way through the processor",
    0.5,
    f"{FIELD}: half with ACS (NVIDIA/nccl-tests issue 112, NVIDIA/nccl issue 949)",
)
RAIL_SLOW = Effect(
    "rail_slow",
    "NCCL splits evenly over the rails, so every collective waits for the slow one",
    0.5,
    f"{INFERRED}: the ratio of seen to expected where both are told",
)
PCIE_SLOW = Effect(
    "pcie_slow",
    "what passes this PCIe link waits, and so does every collective",
    0.5,
    f"{INFERRED}: the ratio of seen to expected where both are told",
)
GPU_SLOW = Effect(
    "gpu_slow", "every step waits for the slow GPU", 0.4, f"{INFERRED}: clocks fall by half or more"
)
LOSSY = Effect(
    "lossy",
    "packets are dropped under load and sent again",
    0.4,
    f"{INFERRED}: a HCA sends again all that follows a lost packet",
)
MPI = Effect(
    "mpi",
    "jobs that send by MPI and not by NCCL go over TCP",
    0.2,
    f"{INFERRED}: NCCL carries what training sends between nodes",
)
STORAGE = Effect(
    "storage",
    "loading data and writing checkpoints takes several times as long",
    0.2,
    f"{INFERRED}: TCP against RDMA to the same servers",
)
UNSTEADY = Effect("unsteady", "jobs may abort or stall on it", 0.3, INFERRED)
RESENDS = Effect("resends", "the link repeats what arrives damaged", 0.25, INFERRED)
RAIL_LOST = Effect(
    "rail_lost",
    "the other rails carry what this one should",
    0.125,
    f"{INFERRED}: the share of the host's rails where it is told, one of eight else",
)
SMALL = Effect("small", "every message is cut into more packets than needed", 0.15, INFERRED)
SKEW = Effect(
    "skew", "hosts differ in what should be equal: slower or failing on one of many", 0.1, INFERRED
)
JITTER = Effect("jitter", "steps take unequal time, and every rank waits", 0.08, INFERRED)
RISK = Effect("risk", "nothing yet: it is how a failure begins", 0.03, INFERRED)
BLIND = Effect("blind", "nothing by itself: it hides other faults", 0.02, INFERRED)

EFFECTS = (
    *(STOPS, TCP, NVLINK, NO_GDR, DETOUR, RAIL_SLOW, PCIE_SLOW, GPU_SLOW, LOSSY, UNSTEADY),
    *(RESENDS, RAIL_LOST, MPI, STORAGE, SMALL, SKEW, JITTER, RISK, BLIND),
)
