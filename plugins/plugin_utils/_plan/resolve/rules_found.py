# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about what the plan would build upon a part that stays as it was found."""

from __future__ import annotations

from ..matrix.model import Matrix
from .candidates import Candidate
from .collision import Found, Pair
from .platform import Platform


def built_on_driver(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or candidate.stays or not driver.stays:
        return None
    return Found(candidate.asked(), f"{driver} stays as it was found")


PAIRS = tuple(Pair("FOUND_DRIVER", part, "driver", built_on_driver) for part in ("gdrcopy", "gds"))
