# SPDX-License-Identifier: GPL-3.0-or-later
"""What an area's equal parts differ in, when the area itself is judged."""

from __future__ import annotations

from typing import NamedTuple, Sequence

from .._evidence.sources import Cached
from .._expect.expectations import Expectations
from .._ground.check import Check
from . import compare, parts, tell


class _Told(NamedTuple):
    """Which parts an area tells of, and by which ids: where jobs are harmed, and all else."""

    kind: str
    setting: str
    other: str
    firmware: str = ""


_AREAS = {
    "ib": _Told(parts.INFINIBAND, "ib.equals.setting", "ib.equals.other"),
    "roce": _Told(parts.ETHERNET, "roce.equals.setting", "roce.equals.other"),
    "gpu": _Told(parts.GPU, "gpu.equals.setting", "gpu.equals.other", "gpu.equals.firmware"),
}


def judge(area: str, seen: Cached, expect: Expectations, told: Sequence[Check]) -> list[Check]:
    """``told``: what is found out already, of this area and those before it."""
    how = _AREAS.get(area)
    if how is None:
        return []
    mine = [part for part in parts.of(seen, how.kind) if not expect.ignores(*part.names, part.subject)]
    return list(tell.checks(compare.outliers(mine), told, expect, *how[1:]))
