# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of nccl.conf."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    name: str
    value: str
    reason: str = ""
