# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the inventory says that other hosts reach a host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def of(name: str, variables: Mapping[str, Any]) -> str:
    """Its address, or a name that the others look up."""
    return str(variables.get("ibready_address") or variables.get("ansible_host") or name)
