# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pasted text says by its words: a failure, or of which tool it is that nobody reads (pasted_words.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import pasted_words as rows


@dataclass(frozen=True)
class NotRead:
    begin: str
    tool: str
    instead: str


WORDS: tuple[str, ...] = rows.WORDS
HARMLESS: tuple[str, ...] = rows.HARMLESS
NOT_READ: tuple[NotRead, ...] = load(NotRead, rows.NOT_READ)
