# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that look like NCCL's variables: never read, renamed, someone else's, or only in a binary.

Data only. Sources: the same 62 release tags and shipped libraries as nccl_variables.py (that a name
is in none of them: confirmed), NCCL's user guide of 2.30.7 (what to use instead: medium), NVIDIA's
HPC-X documentation.
"""

from __future__ import annotations

from dataclasses import dataclass

# The newest release of which the names are known, and the newest whose source is.
NEWEST_LIBRARY = (2, 32, 3)
NEWEST_SOURCE = (2, 30, 7)

# In no release and in no library. Name to what to do instead; "" where NCCL has nothing like it.
NEVER_READ = {
    "NCCL_ASYNC_ERROR_HANDLING": "it was PyTorch's: TORCH_NCCL_ASYNC_ERROR_HANDLING, in the job's environment",
    "NCCL_BLOCKING_WAIT": "it was PyTorch's: TORCH_NCCL_BLOCKING_WAIT, in the job's environment",
    "NCCL_BUFFER_SIZE": "NCCL_BUFFSIZE",
    "NCCL_CHUNKSIZE": "NCCL_BUFFSIZE, or for one way of transport NCCL_P2P_NET_CHUNKSIZE, "
    "NCCL_P2P_PCI_CHUNKSIZE, NCCL_P2P_NVL_CHUNKSIZE or NCCL_NVLS_CHUNKSIZE",
    "NCCL_GDR_ENABLE": "NCCL_NET_GDR_LEVEL (LOC for off)",
    "NCCL_IB_ENABLE": "NCCL_IB_DISABLE",
    "NCCL_IB_GDR_LEVEL_READ": "NCCL_NET_GDR_READ",
    "NCCL_IB_IFNAME": "NCCL_IB_HCA for HCAs, NCCL_SOCKET_IFNAME for interfaces",
    "NCCL_IB_MTU": "",
    "NCCL_IB_PORT": "NCCL_IB_HCA, as in =mlx5_0:1",
    "NCCL_IB_REDUCE_SCATTER": "",
    "NCCL_IB_SHARP_ENABLE": "NCCL_COLLNET_ENABLE",
    "NCCL_MIN_NCHANNELS_BEFORE_SWITCH": "NCCL_MIN_NCHANNELS, if a number of channels is meant",
    "NCCL_NCHANNELS": "NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS, or from 2.17.1 NCCL_MIN_CTAS and NCCL_MAX_CTAS",
    "NCCL_NET_IFNAME": "NCCL_SOCKET_IFNAME",
    "NCCL_NVLINK_DISABLE": "NCCL_P2P_DISABLE, which turns off all of P2P",
    "NCCL_RDMA_ENABLE": "NCCL_IB_DISABLE",
    "NCCL_SHARP_ENABLE": "NCCL_COLLNET_ENABLE",
    "NCCL_SOCKET_NTHREADS_PER_CONN": "NCCL_SOCKET_NTHREADS",
    "NCCL_TIMEOUT": "NCCL_IB_TIMEOUT for InfiniBand; the time of a collective is the framework's",
    "NCCL_TREE_ENABLE": "NCCL_ALGO",
}
# The guide has a section on them, and no release since 2.3.5 reads them.
GUIDE_ONLY = {
    "NCCL_CHECKS_DISABLE": "NCCL_CHECK_POINTERS",
    "NCCL_SINGLE_RING_THRESHOLD": "",
}


@dataclass(frozen=True)
class Renamed:
    """From release ``at`` on ``new`` is read instead of ``old``, or does what it did."""

    old: str
    new: str
    at: str


RENAMED = (
    Renamed("NCCL_IB_GDR_LEVEL", "NCCL_NET_GDR_LEVEL", "2.4.2"),
    Renamed("NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL", "2.4.2"),
    Renamed("NCCL_MNNVL", "NCCL_MNNVL_ENABLE", "2.21.5"),
    Renamed("NCCL_RINGS", "NCCL_GRAPH", "2.5.6"),
    Renamed("NCCL_GRAPH", "NCCL_GRAPH_FILE", "2.6.4"),
    Renamed("NCCL_THREAD_THRESHOLD", "NCCL_THREAD_THRESHOLDS", "2.5.6"),
    # The source said the prefix twice.
    Renamed("NCCL_NCCL_ALLOC_P2P_NET_LL_BUFFERS", "NCCL_ALLOC_P2P_NET_LL_BUFFERS", "2.16.5"),
)

# In newer libraries than any source at hand: that NCCL reads them, and how, is a guess (medium).
# Name to the first library and the last, "" for the newest.
BINARY_ONLY = {
    "NCCL_CE_CHUNK_SIZE": ("2.32.3", ""),
    "NCCL_CE_COLL_AG_MULTICAST_THRESHOLD": ("2.31.2", ""),
    "NCCL_CE_INTRA_GPU_MEMCPY_ENABLE": ("2.32.3", ""),
    "NCCL_CFT_ENABLE": ("2.31.2", ""),
    "NCCL_DEBUG_LEVELS": ("2.32.3", ""),
    "NCCL_DIAGNOSTICS_ECC_THRESHOLD": ("2.31.2", ""),
    "NCCL_DIAGNOSTICS_IB_BW_TIMEOUT": ("2.32.3", ""),
    "NCCL_ENQUEUE_REARCH_ENABLE": ("2.31.2", ""),
    "NCCL_GDAKI_FORCE_MCST": ("2.32.3", ""),
    "NCCL_GDRCOPY_USE_INTERNAL_DMABUF": ("2.31.2", ""),
    "NCCL_GIN_GDAKI_LAG_AWARE_DISABLE": ("2.32.3", ""),
    "NCCL_GIN_IB_OOO_OPT": ("2.31.2", ""),
    "NCCL_GIN_PROXY_NTHREADS": ("2.31.2", ""),
    "NCCL_GIN_PROXY_POLL_BATCH": ("2.31.2", ""),
    "NCCL_HIER_CE_COLL_AG_RAIL_RING_ENABLE": ("2.32.3", ""),
    "NCCL_HIER_CE_COLL_NUM_CTX": ("2.31.2", ""),
    "NCCL_IB_EVENT_BASED_LB": ("2.31.2", ""),
    "NCCL_IB_EVENT_BASED_LB_REMOTE": ("2.31.2", ""),
    "NCCL_IB_PKEY_VALUE": ("2.31.2", ""),
    "NCCL_IB_RAIL_POLICY": ("2.32.3", ""),
    "NCCL_IB_SORT_MERGE_NICS": ("2.32.3", ""),
    "NCCL_IB_VR_RAILS_PER_SOCKET": ("2.32.3", ""),
    "NCCL_IB_VR_SOCKET_COUNT": ("2.32.3", ""),
    "NCCL_IB_WQE_LATENCY_REPORT": ("2.31.2", ""),
    "NCCL_IB_WQE_LATENCY_THRESHOLD_NS": ("2.31.2", ""),
    "NCCL_NUM_RMA_INT_CTX": ("2.31.2", ""),
    "NCCL_NVLS_UB_SIZE": ("2.32.3", ""),
    "NCCL_P2P_PER_CHANNEL_REG_NET_BW": ("2.31.2", ""),
    "NCCL_PAT_NDIMS": ("2.31.2", ""),
    "NCCL_PROGRESS_COUNTERS": ("2.32.3", ""),
    "NCCL_PROGRESS_COUNTER_MONITOR_POLL_MS": ("2.32.3", ""),
    "NCCL_PROGRESS_COUNTER_MONITOR_STALE_MS": ("2.32.3", ""),
    "NCCL_PROGRESS_COUNTER_MONITOR_STALE_WARN_SEC": ("2.32.3", ""),
    "NCCL_RMA_EAGER_INIT": ("2.31.2", ""),
    "NCCL_RMA_IB_WR_BATCHSIZE": ("2.32.3", ""),
    "NCCL_RMA_MULTI_CTX_THRESHOLD": ("2.31.2", ""),
    "NCCL_RUN_DIAGNOSTICS": ("2.31.2", ""),
    "NCCL_RUN_RAS_DIAGNOSTICS": ("2.31.2", ""),
    "NCCL_TOPO_SCATTER_START_NET": ("2.31.2", "2.31.2"),
}

# Variables of others in NCCL's manner: a plugin or a framework reads them, NCCL does not.
ELSEWHERE = {
    "NCCL_PLUGIN_P2P": "HPC-X's network plugin",  # confirmed
    "NCCL_SHARP_DISABLE": "HPC-X's network plugin",  # recalled
    "NCCL_SHARP_GROUP_SIZE_THRESH": "HPC-X's network plugin",  # recalled
    "NCCL_CFG_PATH": "frameworks of the Megatron family",  # recalled
}


@dataclass(frozen=True)
class Plugin:
    """Whose variables begin with one of ``begins``. ``library``: how the linker's name of it begins."""

    begins: tuple[str, ...]
    who: str
    library: str


# Whole families of such names. A beginning that is a whole name stands for that name. Seen in files of sites
# and clouds that use the plugin, or in its source.
PLUGINS = (
    Plugin(("NCCL_FASTRAK_",), "Google's FasTrak plugin", "libnccl-net"),
    Plugin(("NCCL_GPUDIRECTTCPX_",), "Google's GPUDirect-TCPX plugin", "libnccl-net"),
    Plugin(("NCCL_SHIMNET_",), "Google's network plugin", "libnccl-net"),
    Plugin(("NCCL_TUNER_CONFIG_PATH",), "Google's tuner plugin", "libnccl-tuner"),
    Plugin(("NCCL_IBEXT_", "SHARP_COLL_"), "HPC-X's network plugin", "libnccl-net"),
    Plugin(("OFI_NCCL_",), "the plugin for Libfabric", "libnccl-net"),
)

# In every library as the name of a part of the log, and no variable since 2.6.4. Confirmed.
NOT_BY_THE_LIBRARY = frozenset(("NCCL_GRAPH",))
