# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this area has its checks in the catalog."""

from ..._ground.catalog import declare
from ..fabric import ENTRIES as _OF_FABRIC  # noqa: F401 -- what a subnet manager answers a port is looked at here
from ._rows import checks

ENTRIES = declare(checks.CHECKS)
