# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parsers of fabric-wide tools share: their complaints, and the text without facts."""

from __future__ import annotations

import re

from .._ground.text import is_warning, no_facts

# Beside ibpanic and iberror, these tools print bare sentences; libibnetdisc puts its place first.
_ERROR = re.compile(r"ibpanic:|\S*:? ?iberror:|Failed to |discover failed|\S{1,80}\.c:[0-9]{1,6}; |Query SA failed")


def tool_errors(lines: list[str], *, warnings: bool) -> tuple[str, ...]:
    """What the tool complained of; ``warnings`` adds ibwarn, which it prints when all is well."""
    return tuple(line for line in lines if _ERROR.match(line) or (warnings and line and is_warning(line)))


def errors_only(tool: str, lines: list[str], wanted: str) -> tuple[str, ...]:
    """The complaints of a text that holds no facts; without any, ParseError."""
    errors = tool_errors(lines, warnings=True)
    if not errors:
        reason = f"{wanted} and no error message from here to the end"
        raise no_facts(tool, lines, reason, f"empty output: {wanted} seen")
    return errors
