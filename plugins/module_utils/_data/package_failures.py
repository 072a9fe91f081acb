# SPDX-License-Identifier: GPL-3.0-or-later
"""What package managers say when they fail, and what it means (package_failures.yml). The first that fits is told."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import package_failures as rows


@dataclass(frozen=True)
class Failure:
    """``following``: the next step, with {held} for the packages that lack something."""

    kind: str
    cause: str
    patterns: tuple[str, ...]
    following: str


FAILURES: tuple[Failure, ...] = load(Failure, rows.FAILURES)
