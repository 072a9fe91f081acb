# SPDX-License-Identifier: GPL-3.0-or-later
"""What the catalog holds of one check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """What is known of one check before any host was looked at. ``causes``: likeliest first."""

    id: str
    severity: str
    title: str
    meaning: str
    causes: tuple[str, ...]
    remedy: str
