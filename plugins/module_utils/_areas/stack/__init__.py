# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this area has its checks in the catalog."""

from ..._ground.catalog import declare
from ._rows import checks

ENTRIES = declare(checks.CHECKS)
