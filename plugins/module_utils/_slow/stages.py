# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that are late beside those of their own stage of a pipeline: stages differ in work, ranks of a stage do not."""

from __future__ import annotations

from dataclasses import replace

from .series import Series
from .stragglers import Stragglers, stragglers


def in_stages(found: Series) -> Stragglers:
    """The stage with the largest loss by its stragglers; none where stages are not told, or have a rank each."""
    stages: dict[str, set[str]] = {}
    for row in found.rows.values():
        for rank, step in row.items():
            stages.setdefault(step.stage, set()).add(rank)
    if "" in stages:
        return Stragglers()
    seen = [stragglers(_only(found, ranks)) for ranks in stages.values() if len(ranks) > 1]
    guilty = [late for late in seen if late.guilty]
    if not guilty:
        return Stragglers()
    most = max(guilty, key=lambda late: late.gain)
    return replace(most, guilty=tuple(each for late in guilty for each in late.guilty))


def _only(found: Series, ranks: set[str]) -> Series:
    rows = {number: {rank: step for rank, step in row.items() if rank in ranks} for number, row in found.rows.items()}
    return replace(
        found,
        rows={number: row for number, row in rows.items() if row},
        usual=tuple(number for number in found.usual if rows[number]),
        hosts={rank: host for rank, host in found.hosts.items() if rank in ranks},
    )
