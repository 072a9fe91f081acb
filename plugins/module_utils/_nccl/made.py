# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a value of nccl.conf."""

from __future__ import annotations

from dataclasses import dataclass

# The kind of a value that NCCL takes as it is meant, and that jobs suffer by.
HARMFUL = "unwise"


@dataclass(frozen=True)
class Made:
    """``effective``: the value that holds, None where that is not known. ``differs``: what NCCL makes
    of the text, "" where that is what the text seems to mean; ``kind`` then is a word for it,
    ``meant`` what to write instead ("" for: it depends), and ``harmless`` says that no more than a
    doubt is left.
    """

    effective: str | None
    differs: str = ""
    kind: str = ""
    meant: str = ""
    harmless: bool = False
