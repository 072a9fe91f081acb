# SPDX-License-Identifier: GPL-3.0-or-later
"""A number that /etc/nccl.conf sets, for areas that judge how NCCL would use a port."""

from __future__ import annotations

import re

from .._data.nccl_reading import SYSTEM_FILE
from .._evidence import ask
from .._evidence.sources import Evidence
from .._ground.reading import Reading


def read(evidence: Evidence, name: str, otherwise: int) -> Reading[int]:
    """The last number that the file sets, ``otherwise`` where it sets none or is not there."""
    lines = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=[ \t]*([0-9a-fA-FxX-]{{1,10}})", re.MULTILINE)

    def last(text: str) -> int:
        found = lines.findall(text)
        return int(found[-1], 0) if found else otherwise

    told = ask.file(evidence, SYSTEM_FILE, last)
    return Reading(otherwise) if told.missing else told
