# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a failed test is printed: logs of CI are cut in the middle, where Ansible says what failed."""

from __future__ import annotations

import re

# Words that Ansible prints of what went wrong.
_WRONG = re.compile(r"\b(fatal|failed|ERROR|UNREACHABLE|FAILED|unreachable=[1-9]|failed=[1-9])\b")
_BAD = re.compile(r'"result": "(fail|unknown)"')
_HEAD, _TAIL, _WIDTH, _BLOCK = 40, 30, 1_000, 12


def excerpt(text: str) -> str:
    """The beginning and the end of a failure's text, between them the tasks and checks that failed.

    A text of fewer lines than both stays as it is; lines have at most 1,000 characters.
    """
    lines = [line[:_WIDTH] for line in text.splitlines()]
    if len(lines) <= _HEAD + _TAIL:
        return "\n".join(lines)
    between: list[str] = []
    for block in _blocks(lines[_HEAD:-_TAIL]):
        if any(_WRONG.search(line) for line in block):
            between += [*block[:_BLOCK], ""]
    for number, line in enumerate(lines):
        # A check as JSON has its cause and its id before its result, and its subject behind it.
        if _BAD.search(line):
            between += [*lines[max(number - 8, 0) : number + 4], ""]
    left_out = f"[{len(lines) - _HEAD - _TAIL} lines, of which these are the tasks that failed:]"
    return "\n".join([*lines[:_HEAD], "", left_out, *between, "[the end:]", *lines[-_TAIL:]])


def _blocks(lines: list[str]) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.lstrip("E ").strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return blocks
