# SPDX-License-Identifier: GPL-3.0-or-later
"""What mends a link that the firmware of its HCA says something against (link_advice.yml)."""

from __future__ import annotations

from ._rows import link_advice as rows

# What is no finding, in small letters: nothing was found, or not yet.
SAYS_NOTHING = (r"no issue was observed", r"in process", r"not available", r"\An/a\Z")


ROWS: tuple[tuple[str, str], ...] = rows.ROWS
