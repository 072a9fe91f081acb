# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel log that mean something to a training node (kernel_log.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.check import Cause
from .._ground.table import load
from ._rows import kernel_log as rows

FAILURE = "failure"
WARNING = "warning"


@dataclass(frozen=True)
class Known:
    """A message: what it looks like, the words for it ("" = the text that matched), what it means.

    A ``failure`` leaves an HCA without service; a ``warning`` is an early sign or a lost feature. ``means`` may bring
    its remedy (Cause).
    """

    kind: str
    pattern: str
    means: str | Cause
    label: str = ""
    seen: bool = False


HCA: tuple[Known, ...] = load(Known, rows.HCA, means=Cause)
STEPS: tuple[tuple[str, str], ...] = rows.STEPS
HEADS: tuple[str, ...] = rows.HEADS
