# SPDX-License-Identifier: GPL-3.0-or-later
"""SXids, the error numbers of NVSwitches: what they mean and how bad they are; the table is sxids.yml."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import sxids as rows

HARMLESS = "harmless"  # nothing to do about it
FATAL = "fatal"  # the link, and the GPU at its end, is lost
ALWAYS_FATAL = "always fatal"  # the whole fabric is lost until everything was reset


@dataclass(frozen=True)
class Sxid:
    """One error number."""

    kind: str
    means: str


SXIDS: dict[int, Sxid] = load_by_key(Sxid, rows.SXIDS)
