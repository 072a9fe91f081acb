# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for RoCE ports (roce.*)."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

ENTRIES: tuple[Entry, ...] = ()
