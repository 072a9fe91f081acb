# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what iproute2's ``dcb pfc show`` and ``dcb app show`` print for one interface."""

from __future__ import annotations

import re

from .._ground.text import ParseError, clean_lines

_TOOL = "dcb"
_PFC = re.compile(r"([0-7]):(on|off)")
_APP = re.compile(r"([0-9A-Za-z]{1,4}):([0-7])")
# DSCPs by name: RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VA), 8622 (LE).
_NAMES = {
    **{f"CS{n}": 8 * n for n in range(8)},
    **{f"AF{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "VA": 44,
    "LE": 1,
}


def parse_pfc(text: str) -> tuple[int, ...]:
    """The priorities with flow control."""
    for line_no, line in enumerate(clean_lines(text), 1):
        words = line.split()
        if words[:1] != ["prio-pfc"]:
            continue
        flags = [_PFC.fullmatch(word) for word in words[1:]]
        found = [flag for flag in flags if flag is not None]
        if len(found) != len(flags) or len(found) != 8:
            raise ParseError(_TOOL, line_no, line, "not 'prio-pfc' and eight times N:on or N:off")
        return tuple(int(flag.group(1)) for flag in found if flag.group(2) == "on")
    raise ParseError(_TOOL, 0, "", "no 'prio-pfc' line")


def parse_app(text: str) -> tuple[tuple[int, int], ...]:
    """The priority of each DSCP that the interface has a rule for, () without a rule.

    Of several rules for one DSCP the kernel takes the highest priority.
    """
    lines = clean_lines(text)
    if lines and not text.endswith(("\n", "\r")):
        raise ParseError(_TOOL, len(lines), lines[-1], "the output ends here, cut off")
    found: dict[int, int] = {}
    for line_no, line in enumerate(lines, 1):
        words = line.split()
        if words[:1] != ["dscp-prio"]:
            continue
        for word in words[1:]:
            match = _APP.fullmatch(word)
            name = match.group(1) if match else ""
            dscp = _NAMES.get(name, int(name) if name.isdecimal() and name.isascii() else -1)
            if match is None or not 0 <= dscp <= 63:
                raise ParseError(_TOOL, line_no, line, f"{word!r} is not 'DSCP:PRIORITY'")
            found[dscp] = max(int(match.group(2)), found.get(dscp, 0))
    return tuple(sorted(found.items()))
