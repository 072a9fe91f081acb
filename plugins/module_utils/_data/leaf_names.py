# SPDX-License-Identifier: GPL-3.0-or-later
"""What it means that a part differs from its equals in a leaf (leaf_names.yml).

A leaf without a row is told in the words of its source, as a warning; a row makes words, severity and remedy
better.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import leaf_names as rows


@dataclass(frozen=True)
class Row:
    """``leaf``: matches the whole path, in the form of leaf_excuses. ``harms``: jobs wait for it or fail.

    ``told_by``: beginnings of ids of checks that judge this very thing, and whose finding is not told twice; None: a
    check that has the leaf's name among its words. ``wish``: a key of ibready_expect by which the site says
    what it wants of all, and another check then judges it. ``firmware``: told apart from settings, of GPUs.
    """

    leaf: str
    means: str
    remedy: str
    harms: bool = True
    told_by: tuple[str, ...] | None = None
    wish: str = ""
    firmware: bool = False


UNIQUE: tuple[str, ...] = rows.UNIQUE
UNSAID: tuple[str, ...] = rows.UNSAID
FOLLOWS: dict[str, tuple[str, ...]] = rows.FOLLOWS

ROWS: tuple[Row, ...] = load(Row, rows.ROWS)
