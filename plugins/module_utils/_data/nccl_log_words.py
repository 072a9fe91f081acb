# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log by class, for what the rows before these leave unread (nccl_log_words.yml); see nccl_log."""

from __future__ import annotations

from .._ground.table import load
from ._rows import nccl_log_words as rows
from .nccl_known import Known

FIRST: tuple[Known, ...] = load(Known, rows.FIRST)

WARNED: tuple[Known, ...] = load(Known, rows.WARNED)

TOLD: tuple[Known, ...] = load(Known, rows.TOLD)
