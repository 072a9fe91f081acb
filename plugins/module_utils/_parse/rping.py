# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what `rping -v -V` prints, at either end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "rping"
NOTHING: dict[str, Any] = {"pings": 0, "server": None, "damaged": False, "said": []}
# What follows is the pattern of letters that it sends.
_PING = re.compile(r"(server )?ping data: rdma-ping-([0-9]{1,9}): (.*)")
# Told at the end of every run that went well, too.
_END = re.compile(
    r"(?:client|server) DISCONNECT EVENT\.\.\.|wait for \S+ state [0-9]{1,3}|"
    r"(?:rdma_)?(?:read|write) adv.*"
)
_DAMAGED = "data mismatch!"


@dataclass(frozen=True)
class Rping:
    """``pings``: how many came back (at the server: came in) one after the other. ``damaged``: the
    client found other data than it had sent. ``said``: all that is no ping.
    """

    pings: int
    server: bool
    damaged: bool = False
    said: tuple[str, ...] = ()


def parse(text: str) -> Rping:
    """The pings; ParseError where none is told, or where they do not follow each other."""
    pings = 0
    server = False
    damaged = False
    said: list[str] = []
    for number, raw in enumerate(clean_lines(text), 1):
        line = " ".join(raw.split())
        found = _PING.fullmatch(line)
        if found is not None:
            if int(found[2]) != pings:
                raise ParseError(_TOOL, number, raw, f"not ping {pings}")
            if pings and server is not bool(found[1]):
                raise ParseError(_TOOL, number, raw, "of client and server")
            server = bool(found[1])
            pings += 1
        elif line == _DAMAGED:
            damaged = True
        elif line and not _END.fullmatch(line):
            said.append(line)
    if damaged:
        said.append(_DAMAGED)
    elif not pings:
        why = said[-1] if said else "no ping came back, and it said nothing"
        raise ParseError(_TOOL, 0, "", why, tuple(said))
    return Rping(pings, server, damaged, tuple(said))


def facts(parsed: Rping) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "pings": parsed.pings,
        "server": parsed.server,
        "damaged": parsed.damaged,
        "said": list(parsed.said),
    }


def wrong(parsed: Rping) -> tuple[str, ...]:
    """Data that came back as something else than it was sent."""
    return (f"rping got other data back than it had sent, after {parsed.pings} pings",) if parsed.damaged else ()
