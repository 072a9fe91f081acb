# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings with which NCCL does without RDMA, NVLink or GPUDirect on a host that has them.

Data only. Sources: NCCL's user guide of 2.30.7 and its source at the release tags (net_ib, init,
transport/p2p, transport/shm); confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass

# What a host must have for a setting to do harm.
RAILS, GPUS, DMABUF, RACK = "rails", "gpus", "dmabuf", "rack"
# When a value does: a number that is not 0, 0, exactly 1, or one of some words in any case.
ON, OFF, ONE, WORD = "on", "off", "one", "word"


@dataclass(frozen=True)
class Harm:
    """``name`` set so that ``when`` holds does harm to a host that ``needs`` names."""

    name: str
    when: str
    needs: str
    means: str
    words: tuple[str, ...] = ()


HARMS = (
    Harm("NCCL_IB_DISABLE", ON, RAILS, "NCCL leaves every HCA alone: all traffic goes over TCP"),
    Harm("NCCL_NET", WORD, RAILS, "NCCL uses TCP and no HCA", ("socket",)),
    Harm("NCCL_IB_RETRY_CNT", OFF, RAILS, "a single lost packet ends the job"),
    Harm("NCCL_IB_TIMEOUT", OFF, RAILS, "a broken connection is never noticed: jobs hang"),
    Harm("NCCL_DMABUF_ENABLE", OFF, DMABUF, "NCCL does not use the only way to GPUDirect RDMA that this host has"),
    Harm("NCCL_MNNVL_ENABLE", OFF, RACK, "what goes between the hosts of this rack takes the rails instead of NVLink"),
    Harm("NCCL_CUMEM_ENABLE", OFF, RACK, "what goes between the hosts of this rack takes the rails instead of NVLink"),
)
# A detour within the host: mostly left from a search for a fault, now and then needed.
DETOURS = (
    Harm("NCCL_P2P_DISABLE", ONE, GPUS, "GPUs of this host exchange data through its memory, not over NVLink or PCIe"),
    Harm(
        "NCCL_P2P_LEVEL",
        WORD,
        GPUS,
        "GPUs of this host exchange data through its memory, not over NVLink or PCIe",
        ("loc", "0"),
    ),
    Harm(
        "NCCL_SHM_DISABLE",
        ON,
        GPUS,
        "GPUs that cannot reach each other directly go through the network, within the host too",
    ),
)
