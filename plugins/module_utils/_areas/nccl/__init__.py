# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever imports anything of this area has its checks in the catalog."""

from . import entries  # noqa: F401
