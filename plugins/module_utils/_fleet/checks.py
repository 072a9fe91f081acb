# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of this room, as the catalog has them (checks.yml)."""

from __future__ import annotations

from .._areas.fabric import ENTRIES as _OF_FABRIC  # noqa: F401 -- pings and TCP are of a fabric
from .._ground.catalog import declare
from ._rows import checks as rows

# What goes from host to host; a RoCE rail and the switch port that it hangs on; many senders to one.
RDMA = declare(rows.RDMA)
SWITCH = declare(rows.SWITCH)
INCAST = declare(rows.INCAST)
# What equals have alike, and what was measured.
EQUALS = declare(rows.FLEET)
BENCH = declare(rows.BENCH)
