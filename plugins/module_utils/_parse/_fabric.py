# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parsers of fabric-wide tools share: their complaints, and the text without facts."""

from __future__ import annotations

import re

from .._ground.text import ParseError, is_warning, no_facts, printable

# A node description between quotes: whatever its host's administrator wrote, quotes as well. It has 64 bytes; what a
# site's node-name-map says instead may be longer.
NAME = '"(.{0,200})"'
# The same in a line that was put together of two: a quote may belong to the second.
PLAIN = '"([^"]*)"'
_UNREAD = " cannot be read: "
# Beside ibpanic and iberror, these tools print bare sentences; libibnetdisc puts its place first.
_ERROR = re.compile(r"ibpanic:|\S*:? ?iberror:|Failed to |discover failed|\S{1,80}\.c:[0-9]{1,6}; |Query SA failed")
# What libibumad and libibmad warn of, among what they tell of their work.
_FAILS = re.compile(r"fail|can'?t|cannot|unable|error|time[d ]?out|not found|no such|invalid|bad |denied|refused|No SM")


class Strange:
    """Lines that no rule fits: each spoils itself, where the others are understood."""

    def __init__(self) -> None:
        self._errors: list[ParseError] = []

    def leave(self, error: ParseError) -> None:
        """Go on without this line."""
        self._errors.append(error)

    def told(self, understood: int) -> tuple[str, ...]:
        """The lines, for people; raises the first error where they are more than the good ones: another tool's text."""
        if understood < len(self._errors):
            raise self._errors[0]
        return self._named()

    def kept(self, anything: bool) -> tuple[str, ...]:
        """The lines, for people, of a text of which ``anything`` else was understood; else raises the first error."""
        if self._errors and not anything:
            raise self._errors[0]
        return self._named()

    def _named(self) -> tuple[str, ...]:
        return tuple(f"line {error.line_no}{_UNREAD}{printable(error.line)}" for error in self._errors)


def unread(errors: tuple[str, ...]) -> str:
    """The first line that could not be read, as `Strange` names it; "" where each could."""
    return next((line for line in errors if line.startswith("line ") and _UNREAD in line), "")


def tool_errors(lines: list[str], *, warnings: bool) -> tuple[str, ...]:
    """What the tool complained of; ``warnings`` adds ibwarn of a failure, which it prints when all is well."""
    return tuple(
        line for line in lines if _ERROR.match(line) or (warnings and is_warning(line) and _FAILS.search(line))
    )


def errors_only(tool: str, lines: list[str], wanted: str) -> tuple[str, ...]:
    """The complaints of a text that holds no facts; without any, ParseError."""
    errors = tool_errors(lines, warnings=True)
    if not errors:
        reason = f"{wanted} and no error message from here to the end"
        raise no_facts(tool, lines, reason, f"empty output: {wanted} seen")
    return errors
