# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse /proc/mounts and /etc/fstab, which are of one format (fstab(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines

_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """What is mounted where (``point``), of which kind, with which options."""

    device: str
    point: str
    kind: str
    options: tuple[str, ...]

    @property
    def read_only(self) -> bool:
        """``emergency_ro``: what ext4 says of itself since Linux 6.15 after it gave up."""
        return "ro" in self.options or "emergency_ro" in self.options


def parse(text: str) -> tuple[Mount, ...]:
    """Read the lines in their order, of which the last of a place counts; raise ParseError where a line is none."""
    found = []
    for line_no, line in enumerate(clean_lines(text), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 3:
            raise ParseError("mounts", line_no, line, "not device, place and kind")
        options = words[3] if len(words) > 3 else "defaults"
        found.append(Mount(_plain(words[0]), _plain(words[1]), words[2], tuple(options.split(","))))
    return tuple(found)


def _plain(word: str) -> str:
    """Blanks in names are written as octal numbers."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 8) & 0xFF), word)
