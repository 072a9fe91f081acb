# SPDX-License-Identifier: GPL-3.0-or-later
"""Where it says nothing that equal parts differ, by the words of a leaf's path (leaf_excuses.yml).

A path is matched as ``source/title/key`` in small letters, with ``_`` for what is no letter and no number.
"""

from __future__ import annotations

from ._rows import leaf_excuses as rows

EXCUSES: dict[str, tuple[str, ...]] = rows.EXCUSES
# The reason by which a number is expected, whichever.
MEASURED = "measured"
PASSING: tuple[str, ...] = rows.PASSING
MORE_IS_FINE: tuple[str, ...] = rows.MORE_IS_FINE
FIRST: tuple[str, ...] = rows.FIRST
WITHIN: dict[str, str] = rows.WITHIN
UNLESS: dict[str, str] = rows.UNLESS
# Of what holds clocks back, the value that is wrong if it is the odd one.
FAULT = ("_reasons/", "Active")
ROUGH: dict[str, float] = rows.ROUGH
