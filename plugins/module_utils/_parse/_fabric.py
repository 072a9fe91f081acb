# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parsers of fabric-wide tools share: their complaints, and the text without facts."""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import (
    ParseError,
    clean_lines,
    is_warning,
)

# Beside ibpanic and iberror, these tools print bare sentences; libibnetdisc puts its place first.
_ERROR = re.compile(
    r"ibpanic:|\S*:? ?iberror:|Failed to |discover failed|\S{1,80}\.c:[0-9]{1,6}; |Query SA failed"
)


def flat_lines(text: str) -> list[str]:
    """The lines of a text with every run of blanks as one space."""
    return [" ".join(line.split()) for line in clean_lines(text)]


def tool_errors(lines: list[str], *, warnings: bool) -> tuple[str, ...]:
    """What the tool complained of; ``warnings`` adds ibwarn, which it prints when all is well."""
    return tuple(
        line for line in lines if _ERROR.match(line) or (warnings and line and is_warning(line))
    )


def errors_only(tool: str, lines: list[str], wanted: str) -> tuple[str, ...]:
    """The complaints of a text that holds no facts; without any, ParseError."""
    if not any(lines):
        raise ParseError(tool, 0, "", f"empty output: {wanted} seen")
    errors = tool_errors(lines, warnings=True)
    if not errors:
        line_no, line = next((n, line) for n, line in enumerate(lines, 1) if line)
        raise ParseError(tool, line_no, line, f"{wanted} and no error message from here to the end")
    return errors
