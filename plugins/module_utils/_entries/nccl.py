# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for NCCL (nccl.*)."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries import nccl_host, nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

ENTRIES: tuple[Entry, ...] = (*nccl_host.ENTRIES, *nccl_log.ENTRIES)
