# SPDX-License-Identifier: GPL-3.0-or-later
"""All causes that are known, in one order.

A finding belongs to the first row whose signs fit it, and a row explains only findings of rows
below it: from what is below (kernel, bus) up to what a job shows of it.
"""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import (
    rows_bench,
    rows_bus,
    rows_cables,
    rows_container,
    rows_fabric,
    rows_fleet,
    rows_gpu,
    rows_host,
    rows_job,
    rows_kernel,
    rows_rail,
    rows_rdma,
    rows_settings,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import RISK
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import POSSIBLE, Row

# What a newer catalog may find.
OTHER = Row(
    "other",
    "a check fails that the table of causes does not know",
    RISK,
    ("*",),
    look("uptime", hands="do what the check's own remedy says"),
    confidence=POSSIBLE,
)

_ROWS = (
    *rows_settings.ROWS,
    *rows_kernel.ROWS,
    *rows_bus.ROWS,
    *rows_host.ROWS,
    *rows_gpu.ROWS,
    *rows_rail.ROWS,
    *rows_cables.ROWS,
    *rows_fabric.ROWS,
    *rows_bench.ROWS,
    *rows_settings.LATE,
    *rows_container.ROWS,
    *rows_rdma.ROWS,
    *rows_settings.HOST_PROGRAMS,
    *rows_fleet.ROWS,
    *rows_job.ROWS,
    OTHER,
)
ROWS = tuple(rows_fleet.with_differences(row) for row in _ROWS)

# Checks that are unknown where they do not pass, and so are never a cause.
NEVER_WRONG = frozenset(("host.access.reachable", "fabric.ping.tested"))
