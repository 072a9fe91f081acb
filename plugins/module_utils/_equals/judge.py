# SPDX-License-Identifier: GPL-3.0-or-later
"""What an area's equal parts differ in, when the area itself is judged."""

from __future__ import annotations

from typing import NamedTuple, Sequence

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


def judge(area: str, members: Sequence[compare.Part], expect: Expectations, told: Sequence[Check]) -> list[Check]:
    """``members``: the parts of the host. ``told``: what was found out already."""
    how = _AREAS.get(area)
    if how is None:
        return []
    found = compare.outliers([part for part in members if part.kind[0] == how.kind])
    return list(tell.checks(found, told, expect, *how[1:]))
