# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log about the job: ranks that do not agree, settings, plugins, calls (nccl_log_job.yml)."""

from __future__ import annotations

from .._ground.table import load
from ._rows import nccl_log_job as rows
from .nccl_known import Known

# Libfabric's providers that go over TCP or UDP; a layer above may follow: `tcp;ofi_rxm`.
TCP_PROVIDERS = ("tcp", "sockets", "udp")


JOB: tuple[Known, ...] = load(Known, rows.JOB)
