# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a job can be switched off by itself, to see what it is worth. Data only.

Sources: NCCL's user guide of 2.30.7 (environment variables); Open MPI's and UCX's documentation (MCA parameters,
UCX_TLS, UCX_NET_DEVICES): confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

# Stands for a rail that all hosts have: device and port.
RAIL = "{rail}"


@dataclass(frozen=True)
class Switch:
    """``nccl``, ``mpi``: the environment that switches it, by job; none where that job does not have it."""

    name: str
    means: str
    nccl: Mapping[str, str]
    mpi: Mapping[str, str]
    same: str


SWITCHES = (
    Switch(
        "rdma",
        "RDMA off",
        {"NCCL_NET": "Socket"},
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^openib,uct,ofi", "UCX_TLS": "tcp,self,sm"},
        "the job did not use RDMA before, or something else holds it up",
    ),
    Switch(
        "gpudirect",
        "GPUDirect RDMA off",
        {"NCCL_NET_GDR_LEVEL": "LOC"},
        {},
        "the job copied through host memory before, or the network is no faster than that",
    ),
    Switch(
        "nvls",
        "NVLink SHARP off",
        {"NCCL_NVLS_ENABLE": "0"},
        {},
        "the job did not use it before, or the network between the hosts is what bounds it",
    ),
    Switch(
        "rails",
        "one rail alone",
        {"NCCL_IB_HCA": f"={RAIL}"},
        {"UCX_NET_DEVICES": RAIL},
        "the other rails carried nothing before, or something else holds the job up",
    ),
)
NAMES = tuple(switch.name for switch in SWITCHES)
