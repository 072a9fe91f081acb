# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log about the host: the driver, limits, topology (nccl_log_host.yml); see nccl_log."""

from __future__ import annotations

from .._ground.table import load
from ._rows import nccl_log_host as rows
from .nccl_known import Known

HOST: tuple[Known, ...] = load(Known, rows.HOST)
