# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this room has its checks in the catalog."""

from . import checks  # noqa: F401
