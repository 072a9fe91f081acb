# SPDX-License-Identifier: GPL-3.0-or-later
"""A report on the terminal: verdicts, and findings by the verdict above them, in the colours of Ansible's settings."""

from __future__ import annotations

import itertools
import re

from ansible import constants
from ansible.utils.display import Display

from . import verdicts

# A row of a table and what begins a block, both with a verdict; a finding.
_TELLS = re.compile(
    r"\S.*?(?:  (?=[a-z_]+  )| (?:is|are) (?=.*:$))(ready|degraded|unknown|not_ready)\b.*|  (?:FAIL|UNKNOWN) .*"
)


def show(display: Display, text: str) -> None:
    """Print it, a blank line before and behind."""
    above = ""

    def color(line: str) -> str | None:
        nonlocal above
        found = _TELLS.fullmatch(line)
        above = (found and found[1]) or above
        return str(getattr(constants, verdicts.color(above))) if found else None

    for shade, lines in itertools.groupby(["", *text.strip("\n").split("\n"), ""], color):
        display.display("\n".join(lines), color=shade)
