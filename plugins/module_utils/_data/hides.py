# SPDX-License-Identifier: GPL-3.0-or-later
"""Which findings of one host follow from which other one: a small part of causes/, for nodes (hides.yml).

Only what a host tells is folded by it, never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import hides as rows


@dataclass(frozen=True)
class Hides:
    """``roots``: failures; a glob of ids, and after ``~`` a regular expression of what was seen
    and why. ``fails``: failures that follow from one, in the same form. ``blind``: ids that cannot
    be looked at because of it. ``program``: the same of all that this program was to tell.
    ``same``: only of the root's own subject.
    """

    roots: tuple[str, ...]
    fails: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    program: str = ""
    same: bool = False


ROWS: tuple[Hides, ...] = load(Hides, rows.ROWS)
