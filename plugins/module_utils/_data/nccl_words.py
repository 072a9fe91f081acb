# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that NCCL's variables take, by release, and what comes of others. Data only.

Sources: NCCL's user guide of 2.30.7 and its source at the release tags; what a release makes of a
word that it does not know was tried with the shipped libraries for NCCL_ALGO, NCCL_PROTO and
NCCL_NET (confirmed), and read in the source for the others (medium).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The words that one variable takes.

    ``otherwise``: what NCCL makes of any other. ``any_case``: capitals do not matter. ``between``:
    what stands between several words, "" where one is taken. ``out``: whether a ^ in front leaves
    out. ``stops``: jobs end by another word.
    """

    words: tuple[str, ...]
    otherwise: str
    any_case: bool = False
    between: str = ""
    out: bool = False
    stops: bool = True


_NOTHING = "NCCL passes over it"
_LEVELS = ("VERSION", "WARN", "ATTN", "INFO", "ABORT", "TRACE")
WORDS = {
    "NCCL_CHECK_MODE": Words(("DEFAULT", "DEBUG_LOCAL", "DEBUG_GLOBAL"), _NOTHING, True, stops=False),
    "NCCL_CTA_POLICY": Words(
        ("DEFAULT", "EFFICIENCY", "ZERO", "0", "1", "2"), "NCCL goes on with DEFAULT", True, "|", stops=False
    ),
    "NCCL_DEBUG": Words(("VERSION", "WARN", "INFO", "ABORT", "TRACE", "ATTN"), "NCCL logs nothing", True),
    "NCCL_DEBUG_LEVELS": Words((*_LEVELS, "ALL"), _NOTHING, True, ",", stops=False),
    "NCCL_DEBUG_SUBSYS": Words(
        (
            *("ALL", "ALLOC", "ALLOC_HOST", "BOOTSTRAP", "CALL", "COLL", "DESTROY", "ENV", "GRAPH", "INIT", "NET"),
            *("NVLS", "P2P", "PROFILE", "PROXY", "RAS", "REG", "SHM", "TUNING"),
        ),
        _NOTHING,
        True,
        ",",
        True,
        stops=False,
    ),
    "NCCL_DEBUG_TIMESTAMP_LEVELS": Words((*_LEVELS, "ALL"), _NOTHING, True, ",", True, stops=False),
    "NCCL_IB_ADDR_FAMILY": Words(("AF_INET", "AF_INET6"), "NCCL goes on with AF_INET"),
    "NCCL_LAUNCH_MODE": Words(("PARALLEL", "GROUP"), "NCCL goes on with PARALLEL", True),
    "NCCL_NET_MERGE_LEVEL": Words(("LOC", "PORT", "PIX", "PXB", "PHB", "SYS"), "what NCCL makes of it is not known"),
    "NCCL_NET_MERGE_POLICY": Words(("ALL", "RAIL"), "NCCL goes on with ALL", True, stops=False),
    "NCCL_SOCKET_FAMILY": Words(("AF_INET", "AF_INET6"), "NCCL ignores it"),
}
# The first library that takes the word, where not all do.
WORD_SINCE = {("NCCL_DEBUG", "ATTN"): (2, 32, 3)}
# Words that are taken, and harm.
UNWISE = {
    ("NCCL_CHECK_MODE", "DEBUG_GLOBAL"): "every call is checked on all ranks: it is for programs in the making",
    ("NCCL_CHECK_MODE", "DEBUG_LOCAL"): "every call is checked, which costs latency: it is for programs in the making",
    ("NCCL_DEBUG", "TRACE"): "every call is written into the log, which slows jobs down",
    ("NCCL_LAUNCH_MODE", "GROUP"): "the kernels of a process's GPUs wait for each other; it goes out of use",
}

# NCCL_NET: the networks of the library itself, in any case.
NETWORKS = ("IB", "Socket")
# What plugins call their networks, of those that are known.
PLUGIN_NETWORKS = (
    *(
        "AWS Libfabric",
        "FasTrak",
        "FastSocket",
        "GIB",
        "IBext",
        "Libfabric",
        "NCCL RDMA Plugin",
        "OFI",
        "PSM2",
        "SHARP",
    ),
    *("Slingshot", "UCX", "UCX-RDMA", "guest-tcpx", "gIB", "nccl-rdma-sharp"),
)
# Words that people write for InfiniBand or TCP, which no network is called by.
NETWORKS_MEANT = {
    **dict.fromkeys(("infiniband", "ibverbs", "verbs", "rdma", "roce", "ib_verbs", "mlx5", "net_ib", "net/ib"), "IB"),
    **dict.fromkeys(("tcp", "sockets", "ethernet", "eth", "tcpip", "tcp/ip", "net_socket", "net/socket"), "Socket"),
}
NO_NETWORK = "no network of this library is called so: every job ends when it starts"
BY_PLUGIN = "the library has no such network: without a plugin that has, every job ends when it starts"

# NCCL_ALGO and NCCL_PROTO, in any case, with the release from which a word is known.
ALGORITHMS = {
    "RING": (2, 5),
    "TREE": (2, 5),
    "COLLNET": (2, 5),
    "COLLNETCHAIN": (2, 14),
    "COLLNETDIRECT": (2, 14),
    "NVLS": (2, 17),
    "NVLSTREE": (2, 18),
    "PAT": (2, 23),
}
# Until this release.
ALGORITHM_UNTIL = {"COLLNET": (2, 14)}
PROTOCOLS = {"LL": (2, 5), "LL128": (2, 5), "SIMPLE": (2, 5)}
FUNCTIONS = ("ALLGATHER", "ALLGATHERV", "ALLREDUCE", "BROADCAST", "REDUCE", "REDUCESCATTER", "SENDRECV")
# From here on a word that is not known ends jobs, and lists are told by function; before it is passed over.
STRICT_SINCE = (2, 24)
REFUSED = "every job ends with an invalid argument"
PASSED_OVER = "NCCL passes over the word, and nothing of it holds"
