# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that NCCL's variables take, by release, and what comes of others (nccl_words.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import nccl_words as rows


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


WORDS: dict[str, Words] = load_by_key(Words, rows.WORDS)
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
PLUGIN_NETWORKS: tuple[str, ...] = rows.PLUGIN_NETWORKS
# Words that people write for InfiniBand or TCP, which no network is called by.
NETWORKS_MEANT = {
    **dict.fromkeys(("infiniband", "ibverbs", "verbs", "rdma", "roce", "ib_verbs", "mlx5", "net_ib", "net/ib"), "IB"),
    **dict.fromkeys(("tcp", "sockets", "ethernet", "eth", "tcpip", "tcp/ip", "net_socket", "net/socket"), "Socket"),
}
NO_NETWORK = "no network of this library is called so: every job ends when it starts"
BY_PLUGIN = "the library has no such network: without a plugin that has, every job ends when it starts"

ALGORITHMS: dict[str, tuple[int, int]] = rows.ALGORITHMS
# Until this release.
ALGORITHM_UNTIL = {"COLLNET": (2, 14)}
PROTOCOLS = {"LL": (2, 5), "LL128": (2, 5), "SIMPLE": (2, 5)}
FUNCTIONS = ("ALLGATHER", "ALLGATHERV", "ALLREDUCE", "BROADCAST", "REDUCE", "REDUCESCATTER", "SENDRECV")
# From here on a word that is not known ends jobs, and lists are told by function; before it is passed over.
STRICT_SINCE = (2, 24)
REFUSED = "every job ends with an invalid argument"
PASSED_OVER = "NCCL passes over the word, and nothing of it holds"
