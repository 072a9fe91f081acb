# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel modules whose running version has to be the installed one (reloads.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import reloads as rows


@dataclass(frozen=True)
class Watched:
    """``reload``: what replaces the loaded module without a reboot."""

    name: str
    reload: str
    source: str
    confidence: str = "confirmed"


WATCHED: tuple[Watched, ...] = load(Watched, rows.WATCHED)
# Holds the GPUs, so that nvidia cannot: unloading it takes the console with it, as a rule.
RIVAL, ITS_RIVAL = "nvidia", "nouveau"
