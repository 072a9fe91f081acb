# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL takes as the value of a variable, where that is not any text. Data only.

Numbers and words are in nccl_spans and nccl_words. Sources: NCCL's source by release tag; the
reading of numbers was tried with the shipped libraries. Confirmed, unless it says otherwise.
"""

from __future__ import annotations

# Levels, nearest first, as the guide names them.
LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS")
# P2P may also be kept to GPUs that share an NVLink.
NVLINK = "NVL"
WITH_NVLINK = frozenset(("NCCL_P2P_LEVEL",))
# Kinds of path that newer releases know too; which of them take which word is not known here.
OTHER_PATHS = frozenset(("NVB", "C2C", "P2C", "PXN"))
# What the numbers 0 to 5 stand for where a level is meant; a greater one is as 5.
OLD_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")
# As the guide lists them, and vendors' instructions still have them: each release since 2.6 reads them alike.
NUMBERS = frozenset("012345")
# The first release that takes words for a level; before it was a number.
LEVEL_WORDS = (2, 6)

# A flag that is no longer read as an integer; any other text is its default.
TRUE = ("1", "T", "TRUE")
FALSE = ("0", "F", "FALSE")

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
