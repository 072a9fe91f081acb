# SPDX-License-Identifier: GPL-3.0-or-later
"""The line of progress: what fits into a terminal's width, and nothing that moves its cursor."""

from __future__ import annotations

import unicodedata

from ..._ground.plain import plain
from . import durations
from .state import State

_CUT = "..."
# Below that there is room for no word.
LEAST = 12
# Hosts that are named when the others have answered.
_NAMED = 2
_JOIN = "  "


def render(state: State, at: float, width: int) -> str:
    """At most ``width`` columns; "" where there is no room, or nothing to tell yet."""
    if width < LEAST or not state.phase:
        return ""
    return cut(plain(_JOIN.join(_parts(state, at))), width)


def _parts(state: State, at: float) -> list[str]:
    """What matters most comes first, for the end is cut off."""
    parts = [f"{state.phase} {state.role}".strip()]
    if state.batches > 1:
        parts.append(f"batch {state.batch}/{state.batches}")
    done, total = state.counts
    if total and state.task:
        parts.append(f"{done}/{total} {'host' if total == 1 else 'hosts'}")
    if state.failed:
        parts.append(f"{len(state.failed)} failed")
    parts.append(_times(state, at))
    if state.task:
        parts.append(state.task)
    waiting = state.waiting
    if state.done and 0 < len(waiting) <= _NAMED:
        parts.append(f"waiting for {', '.join(waiting)}")
    return parts


def _times(state: State, at: float) -> str:
    elapsed = clock(at - state.started)
    left = durations.left(state.last, state.sections, at)
    if left is None:
        return elapsed
    if left.seconds < 60:
        return f"{elapsed}, {'some time' if left.least else 'less than a minute'} left"
    return f"{elapsed}, {'over' if left.least else 'about'} {round(left.seconds / 60)} min left"


def clock(seconds: float) -> str:
    """``0:07``, ``4:12``, ``1:04:12``."""
    minutes, second = divmod(max(int(seconds), 0), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def cut(text: str, width: int) -> str:
    """The beginning that fits into ``width`` columns, with ``...`` where there is more."""
    if sum(map(_columns, text)) <= width:
        return text
    room, kept = width - len(_CUT), []
    for line in text:
        room -= _columns(line)
        if room < 0:
            break
        kept.append(line)
    return "".join(kept).rstrip() + _CUT


def _columns(text: str) -> int:
    """Of one character; two where nobody is sure, for a line that is too long is torn."""
    if text.isascii():
        return 1
    if unicodedata.combining(text):
        return 0
    return 1 if unicodedata.east_asian_width(text) in ("N", "Na", "H") and ord(text) < 0x2E80 else 2
