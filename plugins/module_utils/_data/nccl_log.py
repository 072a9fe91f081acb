# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log that mean something to an operator, and its completion codes (nccl_log.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from .._ground.text import UNSAID
from ._rows import nccl_log as rows
from .nccl_known import AGAIN, CONFIRMED, CONSEQUENCE, ERROR, KINDS, LOSS, NOTE, REFUSED, UNREAD, Known
from .nccl_log_host import HOST
from .nccl_log_job import JOB, TCP_PROVIDERS
from .nccl_log_words import FIRST, TOLD, WARNED
from .nccl_sure import SURE, SURE_FACTS

# Of its other files, read by this one's name.
__all__ = [
    "AGAIN",
    "CONSEQUENCE",
    "ERROR",
    "KINDS",
    "LOSS",
    "NOTE",
    "REFUSED",
    "SURE",
    "SURE_FACTS",
    "TCP_PROVIDERS",
    "UNREAD",
    "UNSAID",
    "WARNED",
    "Known",
]


MESSAGES: tuple[Known, ...] = load(Known, rows.MESSAGES)
KNOWN: tuple[Known, ...] = (*FIRST, *TOLD, *MESSAGES, *JOB, *HOST, *WARNED)


RESULTS: dict[int, str] = rows.RESULTS
REMOTE = 6
RESULT_NAMES: dict[str, int] = rows.RESULT_NAMES
RESULT_ERRORS: dict[str, int] = rows.RESULT_ERRORS
UNREAD_CAUSE = "nobody here knows this message"
UNREAD_REMEDY = "look the message up in NCCL's issues; the lines before it, of this rank, say what NCCL was about"


# NVLink between hosts: `state`, and the two-bit parts of `healthMask` from the lowest (0 not supported, 1 true,
# 2 false); above them four bits of the configuration, where 0 and 1 are well. source: nvml.h (NVML_GPU_FABRIC_*).
FABRIC_STATES = ("not supported", "not started", "in progress", "completed")
FABRIC_HEALTH = ("degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery")
FABRIC_BAD = 1
FABRIC_CONFIGURATION = "incorrect_configuration"


@dataclass(frozen=True)
class Reason:
    """Why ibv_modify_qp failed, in the kernel's words; what stands for it in the failure's name."""

    reason: str
    code: str
    cause: str


MODIFY_QP: tuple[Reason, ...] = load(Reason, rows.MODIFY_QP)
MODIFY_QP_MEANS = "a queue pair could not be joined with the other end"
MODIFY_QP_REMEDY = (
    "leave NCCL_IB_GID_INDEX unset (2.21 and later pick one) or name one that every host has; "
    "compare addresses and routes of the rails; NCCL_CROSS_NIC=0 where rails are not joined"
)


@dataclass(frozen=True)
class Completion:
    """How a work request of RDMA ended: the status of ``struct ibv_wc`` and its meaning."""

    status: int
    name: str
    means: str
    cause: str
    remedy: str
    kind: str = ERROR
    confidence: str = CONFIRMED


FLUSHED = 5

COMPLETED: tuple[Completion, ...] = load(Completion, rows.COMPLETED)
COMPLETIONS = {completion.status: completion for completion in COMPLETED}

VENDOR_ERRORS: dict[int, str] = rows.VENDOR_ERRORS

NO_WAY_OUT: tuple[tuple[str, str], ...] = rows.NO_WAY_OUT
