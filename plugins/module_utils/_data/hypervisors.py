# SPDX-License-Identifier: GPL-3.0-or-later
"""What the firmware tables (DMI) of virtual machines say (hypervisors.yml)."""

from __future__ import annotations

from ._rows import hypervisors as rows

VIRTUAL_VENDORS: tuple[str, ...] = rows.VIRTUAL_VENDORS
VIRTUAL_PRODUCTS: tuple[str, ...] = rows.VIRTUAL_PRODUCTS
CLOUD_VENDORS: tuple[str, ...] = rows.CLOUD_VENDORS
METAL = "metal"
