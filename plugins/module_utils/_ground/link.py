# SPDX-License-Identifier: GPL-3.0-or-later
"""How a link is called wherever it is spoken of: its layer, in the kernel's own words, and its rate."""

from __future__ import annotations

INFINIBAND = "InfiniBand"
ETHERNET = "Ethernet"
LAYERS = (INFINIBAND, ETHERNET)


def gbps(rate: float) -> str:
    """``400 Gb/s``."""
    return f"{rate:g} Gb/s"
