# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that NCCL's variables take, what comes of others, and which cripple jobs. Data only.

Sources: NCCL's user guide of 2.30.7 for the spans; its source at the release tags (net_ib, init,
socket, graph/tuning) for what comes of other numbers, NCCL_COMM_BLOCKING=0 by a job
of PyTorch 2.11 with NCCL 2.28.9: confirmed. Where a number begins to be unwise
is the project's judgement, from the defaults of all releases: medium.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """``least`` and ``most`` that a variable takes; None for no bound. ``only``: these numbers and
    no others. ``beyond``: what comes of any other, "" where the guide alone has the span. ``stops``:
    whether jobs end, crash or hang by it."""

    least: int | None
    most: int | None
    beyond: str = ""
    stops: bool = False
    only: tuple[int, ...] = ()

    def holds(self, value: int) -> bool:
        """Whether it takes the number."""
        if self.only:
            return value in self.only
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        if self.only:
            return ", ".join(map(str, self.only))
        if self.most is None:
            return f"{self.least} and more"
        return f"{self.least} to {self.most}"


_YES_OR_NO = Span(0, 1)
_SWITCHES = (
    *("NCCL_ALLOC_P2P_NET_LL_BUFFERS", "NCCL_CHECK_POINTERS", "NCCL_COLLNET_ENABLE"),
    *("NCCL_DMABUF_ENABLE", "NCCL_GRAPH_MIXING_SUPPORT", "NCCL_GRAPH_REGISTER", "NCCL_GRAPH_STREAM_ORDERING"),
    *("NCCL_IB_DISABLE", "NCCL_IB_ECE_ENABLE", "NCCL_IB_MERGE_NICS", "NCCL_IB_OOO_RQ", "NCCL_IB_RETURN_ASYNC_EVENTS"),
    *("NCCL_IB_SPLIT_DATA_ON_QPS", "NCCL_IGNORE_COLLNET_MISMATCH", "NCCL_IGNORE_CPU_AFFINITY"),
    *("NCCL_IGNORE_NET_MISMATCH", "NCCL_IPC_USE_ABSTRACT_SOCKET", "NCCL_LAUNCH_ORDER_IMPLICIT"),
    *("NCCL_LAUNCH_RACE_FATAL", "NCCL_LEGACY_CUDA_REGISTER", "NCCL_LOCAL_REGISTER", "NCCL_MEM_SYNC_DOMAIN"),
    *("NCCL_NET_GDR_C2C", "NCCL_NET_GDR_READ", "NCCL_NET_SHARED_BUFFERS", "NCCL_NET_SHARED_COMMS", "NCCL_NVB_DISABLE"),
    *(
        "NCCL_MULTI_RANK_GPU_ENABLE",
        "NCCL_OOB_NET_ENABLE",
        "NCCL_P2P_DIRECT_DISABLE",
        "NCCL_PXN_C2C",
        "NCCL_PXN_DISABLE",
        "NCCL_RAS_ENABLE",
    ),
    *("NCCL_RUNTIME_CONNECT", "NCCL_SET_STACK_SIZE", "NCCL_SET_THREAD_NAME", "NCCL_SHM_DISABLE"),
    *("NCCL_SYM_GIN_KERNELS_ENABLE", "NCCL_WIN_ENABLE"),
    # Read with strtol; anything but 1 leaves P2P on.
    "NCCL_P2P_DISABLE",
)
_CHANNELS = Span(1, 64, "NCCL passes it over or takes its own bound")
_NO_WAIT = "no time is left to try again: a host that is a little late ends the job"
_NO_BUFFER = "no data fits into a buffer of that size: jobs fail or hang"
_NO_QP = "the queue pairs cannot be set up so: every connection over RDMA fails"

SPANS = {
    **dict.fromkeys(_SWITCHES, _YES_OR_NO),
    "NCCL_BUFFSIZE": Span(1024, None, _NO_BUFFER, True),
    "NCCL_CGA_CLUSTER_SIZE": Span(0, 8, "NCCL takes its own bound"),
    "NCCL_COLLNET_NODE_THRESHOLD": Span(0, None),
    "NCCL_COMM_BLOCKING": Span(1, 1, "calls return before they are done: jobs of PyTorch end when they start", True),
    "NCCL_CROSS_NIC": Span(0, 2),
    "NCCL_CUMEM_ENABLE": Span(-2, 1),
    "NCCL_CUMEM_HOST_ENABLE": Span(-1, 1),
    "NCCL_IB_ADAPTIVE_ROUTING": Span(-2, 1),
    "NCCL_IB_AR_THRESHOLD": Span(-2, None),
    "NCCL_IB_FIFO_TC": Span(-1, 255, _NO_QP, True),
    "NCCL_IB_GID_INDEX": Span(-1, 255, "no HCA has such an entry: every connection over RoCE fails", True),
    "NCCL_IB_PCI_RELAXED_ORDERING": Span(0, 2),
    "NCCL_IB_PKEY": Span(0, 65535, "no HCA has such an entry: every connection over InfiniBand fails", True),
    "NCCL_IB_QPS_PER_CONNECTION": Span(1, 128, "NCCL has no queue pair to send on, or no room for so many", True),
    "NCCL_IB_RETRY_CNT": Span(0, 7),
    "NCCL_IB_ROCE_VERSION_NUM": Span(1, 2, "no GID has this version: NCCL finds none that fits", True),
    "NCCL_IB_SL": Span(-1, 15, _NO_QP, True),
    "NCCL_IB_TC": Span(-1, 255, _NO_QP, True),
    "NCCL_IB_TIMEOUT": Span(
        0, 31, "it is no timeout at all: a broken connection is never noticed, and jobs hang", True
    ),
    "NCCL_MAX_CTAS": _CHANNELS,
    "NCCL_MAX_NCHANNELS": _CHANNELS,
    "NCCL_MAX_P2P_NCHANNELS": _CHANNELS,
    "NCCL_MIN_CTAS": _CHANNELS,
    "NCCL_MIN_NCHANNELS": _CHANNELS,
    "NCCL_MNNVL_ENABLE": Span(0, 2),
    "NCCL_NSOCKS_PERTHREAD": Span(1, 64, "NCCL takes its own bound"),
    "NCCL_NTHREADS": Span(None, None, "NCCL warns and takes its own number", False, (64, 128, 256, 512)),
    "NCCL_NVLS_ENABLE": Span(0, 2),
    "NCCL_P2P_LL_THRESHOLD": Span(0, None),
    "NCCL_P2P_NET_CHUNKSIZE": Span(1, None, _NO_BUFFER, True),
    "NCCL_P2P_PXN_LEVEL": Span(0, 2),
    "NCCL_SOCKET_NTHREADS": Span(1, 16, "NCCL takes its own bound"),
    "NCCL_SOCKET_POLL_TIMEOUT_MSEC": Span(0, None),
    "NCCL_SOCKET_RETRY_CNT": Span(1, None, _NO_WAIT, True),
    "NCCL_SOCKET_RETRY_SLEEP_MSEC": Span(1, None, _NO_WAIT, True),
    "NCCL_UID_STAGGER_RATE": Span(1, None),
    "NCCL_UID_STAGGER_THRESHOLD": Span(1, None),
}


@dataclass(frozen=True)
class Unwise:
    """Numbers from ``least`` to ``most`` that NCCL takes, and what jobs suffer by them."""

    name: str
    least: int
    most: int
    means: str


_FEW = "so few channels move a part of what the links can carry"
_MANY = "so many channels take the GPU's processors from the computation"
_TINY = "pieces so small that waiting for each takes longer than moving it: a part of the bandwidth is left"

UNWISE = (
    Unwise("NCCL_BUFFSIZE", 1024, 2**20 - 1, _TINY),
    Unwise("NCCL_BUFFSIZE", 2**26, 2**63, "every channel to every peer takes so much of the GPU's memory"),
    Unwise("NCCL_CHECK_POINTERS", 1, 1, "every call is checked, which costs latency: it is for programs in the making"),
    Unwise("NCCL_IB_AR_THRESHOLD", 2**22, 2**63, "nothing is sent so that adaptive routing can spread it"),
    Unwise(
        "NCCL_IB_QPS_PER_CONNECTION", 17, 128, "so many queue pairs do not fit into the HCA's cache: each is slower"
    ),
    Unwise("NCCL_IB_RETRY_CNT", 1, 3, "a few lost packets end the job"),
    Unwise("NCCL_IB_RETURN_ASYNC_EVENTS", 0, 0, "an HCA's fatal event no longer ends the job, which hangs instead"),
    Unwise("NCCL_IB_TIMEOUT", 1, 13, "a packet that is a little late counts as lost: jobs end with error 12"),
    Unwise("NCCL_IB_TIMEOUT", 26, 31, "a peer that is gone is noticed after half an hour and more: jobs seem to hang"),
    Unwise("NCCL_MAX_CTAS", 1, 3, _FEW),
    Unwise("NCCL_MAX_NCHANNELS", 1, 3, _FEW),
    Unwise("NCCL_MIN_CTAS", 33, 64, _MANY),
    Unwise("NCCL_MIN_NCHANNELS", 33, 64, _MANY),
    Unwise("NCCL_MULTI_RANK_GPU_ENABLE", 1, 1, "several ranks on one GPU may exhaust it and hang; it is experimental"),
    Unwise("NCCL_NTHREADS", 64, 128, "so few threads cannot fill NVLink or a fast HCA"),
    Unwise("NCCL_P2P_NET_CHUNKSIZE", 1, 2**15 - 1, _TINY),
    Unwise("NCCL_SOCKET_RETRY_CNT", 1, 9, "a host that is some seconds late ends the job"),
)
