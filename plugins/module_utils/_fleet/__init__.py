# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this room has its checks in the catalog."""

from .._areas.fabric import entries as fabric_entries  # noqa: F401 -- pings and TCP are of a fabric
from . import entries, entries_bench, entries_rdma  # noqa: F401
