# SPDX-License-Identifier: GPL-3.0-or-later
"""One package of a package database, whichever one it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """``whole``: installed to the end. A package of which only settings are left is none."""

    name: str
    version: str
    arch: str
    whole: bool = True
