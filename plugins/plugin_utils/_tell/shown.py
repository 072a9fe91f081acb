# SPDX-License-Identifier: GPL-3.0-or-later
"""A report on the terminal: verdicts, and findings by the verdict above them, in the colours of Ansible's settings."""

from __future__ import annotations

import itertools
import re

from ansible import constants
from ansible.utils.display import Display

from . import verdicts

# The verdict in a row of a table, and in what begins a block.
_ROW = re.compile(r"  (ready|degraded|unknown|not_ready)  ")
_HEAD = re.compile(r" (?:is|are) (degraded|unknown|not_ready)\b")


def show(display: Display, text: str) -> None:
    """Print it, a blank line before and behind."""
    above = ""

    def color(line: str) -> str | None:
        nonlocal above
        if line.startswith("  "):
            told = line.startswith(("  FAIL ", "  UNKNOWN "))
        else:
            found = _HEAD.search(line) if line.endswith(":") else _ROW.search(line)
            told = found is not None
            above = found[1] if found else above
        return str(getattr(constants, verdicts.color(above))) if told else None

    for shade, lines in itertools.groupby(["", *text.strip("\n").split("\n"), ""], color):
        display.display("\n".join(lines), color=shade)
