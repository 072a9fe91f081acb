# SPDX-License-Identifier: GPL-3.0-or-later
"""What the firmware of an HCA says against a link, as a cause with its remedy."""

from __future__ import annotations

import re

from ..._data.link_advice import ROWS, SAYS_NOTHING
from ..._ground.check import Cause
from ..._ground.text import plain
from ..._parse.mlxlink import Mlxlink

_SHOWN = 200


def of(seen: Mlxlink | None) -> Cause | None:
    """What mlxlink recommends in its own words; None where it has nothing against the link, or was not heard."""
    said = plain(seen.recommendation, _SHOWN) if seen else ""
    small = said.lower().rstrip(". ")
    if not small or any(re.search(words, small) for words in SAYS_NOTHING):
        return None
    remedy = next((mends for words, mends in ROWS if re.search(words, small)), "")
    return Cause(f"mlxlink found: {said}", remedy or "do at both ends of the link what mlxlink says against it")
