# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this area has its checks in the catalog."""

from ..._ground.catalog import declare
from .. import fabric  # noqa: F401 -- what a subnet manager answers a port is looked at with the port
from ._rows import checks

ENTRIES = declare(checks.CHECKS)
