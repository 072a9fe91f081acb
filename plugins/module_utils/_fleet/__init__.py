# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this room has its checks in the catalog."""

from .._areas import fabric  # noqa: F401 -- pings and TCP are of a fabric
from .._ground.catalog import declare
from ._rows import checks

# What goes from host to host; a RoCE rail and the switch port that it hangs on; many senders to one.
RDMA = declare(checks.RDMA)
SWITCH = declare(checks.SWITCH)
INCAST = declare(checks.INCAST)
# What equals have alike, and what was measured.
EQUALS = declare(checks.FLEET)
BENCH = declare(checks.BENCH)
