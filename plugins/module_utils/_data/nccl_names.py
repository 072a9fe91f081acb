# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that look like NCCL's variables: never read, renamed, someone else's, or only in a binary (nccl_names.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import nccl_names as rows

# The newest release of which the names are known; the newest whose source is, is 2.30.7.
NEWEST_LIBRARY = (2, 32, 3)

NEVER_READ: dict[str, str] = rows.NEVER_READ
GUIDE_ONLY: dict[str, str] = rows.GUIDE_ONLY


@dataclass(frozen=True)
class Renamed:
    """From release ``at`` on ``new`` is read instead of ``old``, or does what it did."""

    old: str
    new: str
    at: str


RENAMED: tuple[Renamed, ...] = load(Renamed, rows.RENAMED)

BINARY_ONLY: dict[str, tuple[str, str]] = rows.BINARY_ONLY

ELSEWHERE: dict[str, str] = rows.ELSEWHERE


@dataclass(frozen=True)
class Plugin:
    """Whose variables begin with one of ``begins``. ``library``: how the linker's name of it begins."""

    begins: tuple[str, ...]
    who: str
    library: str


PLUGINS: tuple[Plugin, ...] = load(Plugin, rows.PLUGINS)

# In every library as the name of a part of the log, and no variable since 2.6.4. Confirmed.
NOT_BY_THE_LIBRARY = frozenset(("NCCL_GRAPH",))
