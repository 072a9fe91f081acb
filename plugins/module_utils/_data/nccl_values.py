# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL takes as the value of a variable, where that is not any text. Data only.

Sources: NCCL's source by release tag, its user guide of 2.30.7 for ranges; the reading of numbers
was tried with the shipped libraries. Confirmed, unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

# Levels, nearest first, as the guide names them.
LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS")
# P2P may also be kept to GPUs that share an NVLink.
NVLINK = "NVL"
WITH_NVLINK = frozenset(("NCCL_P2P_LEVEL",))
# Kinds of path that newer releases know too; which of them take which word is not known here.
OTHER_PATHS = frozenset(("NVB", "C2C", "P2C", "PXN"))
# What the numbers 0 to 5 stand for where a level is meant; a greater one is as 5.
OLD_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")
# The first release that takes words for a level; before it was a number.
LEVEL_WORDS = (2, 6)

# A flag that is no longer read as an integer; any other text is its default.
TRUE = ("1", "T", "TRUE")
FALSE = ("0", "F", "FALSE")


@dataclass(frozen=True)
class Words:
    """The words that one variable takes.

    ``otherwise``: what NCCL makes of any other. ``any_case``: capitals do not matter.
    """

    words: tuple[str, ...]
    otherwise: str
    any_case: bool = False


WORDS = {
    "NCCL_DEBUG": Words(("VERSION", "WARN", "INFO", "ABORT", "TRACE", "ATTN"), "NCCL logs nothing", True),
    "NCCL_IB_ADDR_FAMILY": Words(("AF_INET", "AF_INET6"), "NCCL goes on with AF_INET"),
    "NCCL_LAUNCH_MODE": Words(("PARALLEL", "GROUP"), "NCCL goes on with PARALLEL", True),
    "NCCL_NET_MERGE_LEVEL": Words(("LOC", "PORT", "PIX", "PXB", "PHB", "SYS"), "what NCCL makes of it is not known"),
    "NCCL_SOCKET_FAMILY": Words(("AF_INET", "AF_INET6"), "NCCL ignores it"),
}
# The first library that takes the word, where not all do.
WORD_SINCE = {("NCCL_DEBUG", "ATTN"): (2, 32, 3)}

# Numbers that make sense, from the guide; least and greatest.
RANGES = {
    "NCCL_CROSS_NIC": (0, 2),
    "NCCL_CUMEM_ENABLE": (-2, 1),
    "NCCL_IB_PCI_RELAXED_ORDERING": (0, 2),
    "NCCL_IB_RETRY_CNT": (0, 7),
    "NCCL_IB_TIMEOUT": (0, 31),
    "NCCL_MNNVL_ENABLE": (0, 2),
    "NCCL_NVLS_ENABLE": (0, 2),
    # Read with strtol; anything but 1 leaves P2P on.
    "NCCL_P2P_DISABLE": (0, 1),
}

# What a number comes to, for those that are got by mistake: a text without a number is 0.
MEANS = {
    ("NCCL_DMABUF_ENABLE", 0): "DMA-BUF is off",
    ("NCCL_IB_DISABLE", 0): "InfiniBand and RoCE stay on",
    ("NCCL_IB_GID_INDEX", 0): "the first entry of the GID table, often RoCE v1",
    ("NCCL_IB_RETRY_CNT", 0): "a lost packet ends the job",
    ("NCCL_IB_TC", 0): "traffic class 0, the best-effort queue",
    ("NCCL_IB_TIMEOUT", 0): "no timeout at all",
    ("NCCL_NVLS_ENABLE", 0): "NVLink SHARP is off",
    ("NCCL_P2P_DISABLE", 0): "P2P stays on",
    ("NCCL_SHM_DISABLE", 0): "shared memory stays on",
}

# Variables that belong to one job: in a host's file they are the same for all jobs.
OF_ONE_JOB = frozenset(("NCCL_COMM_ID", "NCCL_HOSTID"))
