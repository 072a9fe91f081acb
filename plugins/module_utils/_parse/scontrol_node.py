# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``scontrol show node NAME`` prints of one node.

The text, not --json: that is there from Slurm 21.08 on, needs a plugin, and names the states
differently from release to release. Every release prints State and Reason as read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines

_TOOL = "scontrol show node"
# Marks that scontrol puts behind a state's name: * not responding, ~ # % powered down or up, and
# more of the kind. Source: man sinfo, NODE STATE CODES. Confidence: confirmed.
_STATE = re.compile(r"([A-Z][A-Z_]*)([*~#!%$@^+-]*)")
_STATE_LINE = re.compile(r"\s*State=(\S+)(?:\s|$)")
_REASON_LINE = re.compile(r"\s*Reason=(.*)")
# Who gave the reason and when: ` [root@2026-11-22T03:38:13]`.
_STAMP = re.compile(r"(?:^| )\[([^\[\]\s]{1,256}@[^\[\]\s]{1,64})\]$")
_NOT_RESPONDING = "NOT_RESPONDING"


@dataclass(frozen=True)
class Node:
    """``states``: the base state first, then what else holds. ``stamp``: ``USER@TIME`` or "".

    Each run of blanks in the reason is one blank.
    """

    name: str
    states: tuple[str, ...]
    reason: str = ""
    stamp: str = ""

    def any_of(self, *states: str) -> bool:
        """Whether one of these states holds."""
        return not set(states).isdisjoint(self.states)

    @property
    def responds(self) -> bool:
        """Whether slurmctld hears of the node."""
        return _NOT_RESPONDING not in self.states


def parse(text: str) -> Node:
    """Read the one node; raise ParseError where it has no name or no state."""
    lines = clean_lines(text)
    if not lines or not lines[0].startswith("NodeName="):
        raise ParseError(_TOOL, 1 if lines else 0, "".join(lines[:1]), "no NodeName")
    words = lines[0].partition("=")[2].split()[:1]
    name = words[0] if words else ""
    states: tuple[str, ...] = ()
    reason = stamp = ""
    for line_no, line in enumerate(lines[1:], 2):
        if line.startswith("NodeName="):
            raise ParseError(_TOOL, line_no, line, "a second node")
        found = _STATE_LINE.match(line)
        if found and not states:
            states = _states(line_no, line, found.group(1))
        reported = _REASON_LINE.match(line)
        if reported and states and not reason:
            reason, stamp = _reason(" ".join(reported.group(1).split()))
    if not name or not states:
        raise ParseError(_TOOL, 1, lines[0], "a node without a name, or without a State")
    return Node(name, states, reason, stamp)


def _states(line_no: int, line: str, words: str) -> tuple[str, ...]:
    """``DOWN*+DRAIN`` is DOWN, NOT_RESPONDING and DRAIN."""
    found: dict[str, None] = {}
    for word in words.split("+"):
        match = _STATE.fullmatch(word)
        if match is None:
            raise ParseError(_TOOL, line_no, line, f"{word!r} is no state")
        found[match.group(1)] = None
        if "*" in match.group(2):
            found[_NOT_RESPONDING] = None
    return tuple(found)


def _reason(words: str) -> tuple[str, str]:
    match = _STAMP.search(words)
    return (words[: match.start()], match.group(1)) if match else (words, "")
