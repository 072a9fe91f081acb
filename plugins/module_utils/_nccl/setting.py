# SPDX-License-Identifier: GPL-3.0-or-later
"""One line that nccl.conf is to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A variable of NCCL with its value as text; `reason` becomes the comment above it."""

    name: str
    value: str
    reason: str = ""
