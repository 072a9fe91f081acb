# SPDX-License-Identifier: GPL-3.0-or-later
"""What providers' own instructions set on their hosts, and so raises no doubt there (nccl_recommended.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import nccl_recommended as rows


@dataclass(frozen=True)
class Recommended:
    vendor: str
    settings: tuple[str, ...]
    source: str


RECOMMENDED: tuple[Recommended, ...] = load(Recommended, rows.RECOMMENDED)


def recommended(vendor: str) -> frozenset[str]:
    """NAME=VALUE of all that is recommended for hosts of this DMI vendor."""
    return frozenset(line for row in RECOMMENDED if vendor.startswith(row.vendor) for line in row.settings)
