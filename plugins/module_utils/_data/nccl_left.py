# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows where a variable of NVIDIA's debugging list stays set. Data only.

They are for experiments and for the search for a fault. Sources: the section Debugging of NCCL's
user guide of 2.30.7, which lists them all, and NCCL's source at the release tags: confirmed; what a
site may leave: medium. Those that do harm by what the host has are in nccl_harm.py, numbers and
words that are wrong or unwise by themselves in nccl_spans.py and nccl_words.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Left:
    """``calm``: values with which the variable may stay, because they only ask for what NCCL does
    where it can, or for what sites measure and choose. ``off``: values in text that do harm, where
    every other may stay."""

    name: str
    means: str
    calm: tuple[int | str, ...] = ()
    off: tuple[int | str, ...] = ()

    def stays(self, value: str) -> bool:
        """Whether nothing is to be told of this value, as NCCL reads it."""
        if self.off:
            return value not in map(str, self.off)
        return value in map(str, self.calm)


_CHOICE = "NCCL no longer chooses by itself: what is right for one size, release or host slows down others"

LEFT = (
    Left("NCCL_ALGO", f"{_CHOICE}; newer algorithms are left out"),
    Left("NCCL_ALLOC_P2P_NET_LL_BUFFERS", "memory of the GPU grows with every peer of a job", (0,)),
    Left(
        "NCCL_BUFFSIZE",
        "every channel to every peer takes as much of the GPU's memory, whatever the release needs",
        tuple(2**power for power in range(22, 26)),
    ),
    Left("NCCL_CGA_CLUSTER_SIZE", _CHOICE),
    Left(
        "NCCL_CUMEM_ENABLE",
        "NVLink between hosts (MNNVL) and the registration of buffers need it: they are off",
        (1, -2),
    ),
    Left("NCCL_CUMEM_HOST_ENABLE", "buffers in shared memory: /dev/shm has to be large enough", (1, -1)),
    Left("NCCL_GRAPH_MIXING_SUPPORT", "programs that mix CUDA graphs with other calls hang or fail", (1,)),
    Left("NCCL_GRAPH_REGISTER", "what CUDA graphs send is copied once more", (1,)),
    Left("NCCL_GRAPH_STREAM_ORDERING", "programs that do not order their calls by themselves hang", (1,)),
    Left("NCCL_IB_ADAPTIVE_ROUTING", "large messages are kept to one path each: paths collide", off=(0,)),
    Left("NCCL_IB_AR_THRESHOLD", "fewer messages are spread by adaptive routing", (8192, -2, 0)),
    Left("NCCL_IB_ECE_ENABLE", "congestion control and what else HCAs agree on between themselves is off", (1,)),
    Left("NCCL_IB_MERGE_NICS", "the two ports of a HCA are used as two: one of them may stay idle", (1,)),
    Left("NCCL_IB_OOO_RQ", "an HCA or a switch that cannot do it ends jobs", (0,)),
    Left("NCCL_IB_PCI_RELAXED_ORDERING", "virtual machines lose a part of their bandwidth", off=(0,)),
    Left("NCCL_IGNORE_COLLNET_MISMATCH", "a host without SHARP is passed over, and all go slower without a word", (0,)),
    Left("NCCL_IPC_USE_ABSTRACT_SOCKET", "sockets in /tmp take its place: containers have to share it", (1,)),
    Left("NCCL_LAUNCH_ORDER_IMPLICIT", "operations of several communicators wait for each other", (0,)),
    Left("NCCL_LAUNCH_RACE_FATAL", "threads that race hang instead of ending with an error", (1,)),
    Left("NCCL_LEGACY_CUDA_REGISTER", "registering such buffers can hang a job", (0,)),
    Left("NCCL_LOCAL_REGISTER", "buffers that programs register are copied all the same", (1,)),
    Left("NCCL_MAX_CTAS", _CHOICE, tuple(range(16, 65))),
    Left("NCCL_MAX_NCHANNELS", _CHOICE, tuple(range(16, 65))),
    Left("NCCL_MEM_SYNC_DOMAIN", "NCCL's kernels and those of the computation wait for each other's memory", (1,)),
    Left("NCCL_MNNVL_CLIQUE_ID", "hosts with another number do not use NVLink between them"),
    Left("NCCL_MNNVL_UUID", "hosts of different NVLink domains take each other for neighbours"),
    Left("NCCL_NET_GDR_C2C", "what goes out by the processor's HCA is copied through its memory", (1,)),
    Left("NCCL_NET_GDR_READ", "what is sent is copied through the host's memory", (1, -2)),
    Left("NCCL_NET_SHARED_BUFFERS", "memory grows with every peer of a job", (1, -2)),
    Left("NCCL_NET_SHARED_COMMS", "every GPU opens connections of its own: memory grows with them", (1,)),
    Left("NCCL_NTHREADS", _CHOICE),
    Left("NCCL_NVB_DISABLE", "GPUs without an NVLink between them go through the host's memory", (0,)),
    Left("NCCL_NVLS_ENABLE", "NVLink SHARP is off: an allreduce within the host moves twice as much", (1, 2)),
    Left("NCCL_P2P_DIRECT_DISABLE", "GPUs of one process copy what they could read directly", (0,)),
    Left("NCCL_P2P_LL_THRESHOLD", _CHOICE, (16384,)),
    Left("NCCL_P2P_NET_CHUNKSIZE", _CHOICE, (131072, 262144, 524288)),
    Left("NCCL_P2P_PXN_LEVEL", "messages to other rails go through the spine switches, one by one", (2,)),
    Left("NCCL_PROTO", f"{_CHOICE}; without LL and LL128 small messages wait longer"),
    Left("NCCL_PXN_C2C", "messages to other rails go through the spine switches", (1,)),
    Left("NCCL_PXN_DISABLE", "messages to other rails go through the spine switches, one by one", (0,)),
    Left("NCCL_RAS_ADDR", "two jobs of one host cannot both listen there: one of them cannot be asked"),
    Left("NCCL_RAS_ENABLE", "nobody can ask a job that hangs what it waits for", (1,)),
    Left("NCCL_RAS_TIMEOUT_FACTOR", "a rank that is gone is noticed later", (1,)),
    Left(
        "NCCL_RUNTIME_CONNECT", "every connection is set up at the start, used or not: it takes time and memory", (1,)
    ),
    Left("NCCL_SET_STACK_SIZE", "every kernel of the program gets the largest stack: memory of the GPU", (0,)),
    Left("NCCL_SYM_GIN_KERNELS_ENABLE", "windows that programs register gain less", (1,)),
    Left("NCCL_WIN_ENABLE", "windows that programs register gain nothing", (1,)),
    # They write a file, whoever runs a job.
    Left("NCCL_GRAPH_DUMP_FILE", "every job writes this file, over that of others"),
    Left("NCCL_TOPO_DUMP_FILE", "every job writes this file, over that of others"),
)
