# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for NCCL (nccl.*)."""

from __future__ import annotations

from . import entries_host, entries_log

ENTRIES = (*entries_host.ENTRIES, *entries_log.ENTRIES)
