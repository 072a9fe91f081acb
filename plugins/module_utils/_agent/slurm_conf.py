# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a few lines in the site's slurm.conf, between two marks; everything else is the site's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .._ground.keyvalue import ConfError, ConfFileError

BEGIN = "# BEGIN ibready health_agent (kept by its role; changes made here are undone)"
END = "# END ibready health_agent"
_KEY = re.compile(r"\s*([A-Za-z]+)\s*=")
_VALUE = re.compile(r"[A-Za-z0-9_/.,:+-]+")


def merged(text: str, lines: Mapping[str, str]) -> str:
    """The file with exactly these lines of ours, {} for none; raises ConfError."""
    before, after = _around(text)
    for name, value in lines.items():
        if _KEY.fullmatch(f"{name}=") is None or _VALUE.fullmatch(value) is None:
            raise ConfError(f"{name}={value} is no line for slurm.conf")
    # Slurm takes the later of two lines, and knows no difference between upper and lower case.
    wanted = {name.lower() for name in lines}
    for line in f"{before}{after}".splitlines():
        key = _KEY.match(line)
        if key is not None and key.group(1).lower() in wanted:
            raise ConfFileError(f"it has a line of its own: {line.strip()!r}")
    if not lines:
        return before + after
    if before and not before.endswith("\n"):
        before += "\n"
    block = "".join(f"{name}={value}\n" for name, value in lines.items())
    return f"{before}{BEGIN}\n{block}{END}\n{after}"


def _around(text: str) -> tuple[str, str]:
    """What stands before and after our block; ("all", "") where there is none."""
    lines = text.splitlines(keepends=True)
    marks = [(i, line.strip()) for i, line in enumerate(lines) if line.strip() in (BEGIN, END)]
    if not marks:
        return text, ""
    if [mark for _unused, mark in marks] != [BEGIN, END]:
        raise ConfFileError("ibready's marks are not there once each, in their order")
    return "".join(lines[: marks[0][0]]), "".join(lines[marks[1][0] + 1 :])
