# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lock calls the parts of a stack, and the packages that they come in (stack_components.yml)."""

from __future__ import annotations

from ._rows import stack_components as rows

PACKAGES: dict[str, tuple[str, ...]] = rows.PACKAGES

DRIVER_INSTALLED: tuple[str, ...] = rows.DRIVER_INSTALLED
DRIVER_VERSIONED: tuple[str, ...] = rows.DRIVER_VERSIONED
DRIVER_MODULES: tuple[str, ...] = rows.DRIVER_MODULES
