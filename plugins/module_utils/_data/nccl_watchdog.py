# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations by the names of PyTorch's watchdog, in those of its flight recorder. Data only.

Source: OpType of PyTorch's c10d/Types.hpp and ProcessGroupNCCL.cpp, 2.0 to 2.11: confirmed.
"""

from __future__ import annotations

OPERATIONS = {
    "ALLREDUCE": "all_reduce",
    "ALLREDUCE_COALESCED": "all_reduce",
    "BROADCAST": "broadcast",
    "REDUCE": "reduce",
    "ALLGATHER": "all_gather",
    "_ALLGATHER_BASE": "_all_gather_base",
    "ALLGATHER_COALESCED": "all_gather",
    "REDUCE_SCATTER": "reduce_scatter",
    "_REDUCE_SCATTER_BASE": "_reduce_scatter_base",
    "ALLTOALL_BASE": "all_to_all",
    "ALLTOALL": "all_to_all",
    "GATHER": "gather",
    "SCATTER": "scatter",
    "SEND": "send",
    "RECV": "recv",
    "BARRIER": "barrier",
    "COALESCED": "coalesced",
}
