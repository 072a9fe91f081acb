# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibstatus`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import (
    ParseError,
    clean_lines,
    to_int,
    to_rate,
)

_TOOL = "ibstatus"
NOTHING: dict[str, Any] = {"devices": [], "n_devices": 0}

# The first character of a copied text is easily lost.
_HEADER = re.compile(r"I?nfiniband device '([^']{1,128})' port ([0-9]{1,3}) status:?")
_KEYS = {
    "default gid": "gid",
    "base lid": "lid",
    "sm lid": "sm_lid",
    "state": "state",
    "phys state": "phys_state",
    "rate": "rate",
    "link_layer": "link_layer",
}
_FATAL = "Fatal error:"
# tmux shows the place in its own scrollback over the end of a line.
_TMUX = re.compile(r"\[[0-9]{1,7}/[0-9]{1,7}\]$")


@dataclass(frozen=True)
class Status:
    """One port in the words of ``ibstatus``; None where its line was missing."""

    name: str
    port: int
    gid: str | None = None
    lid: int | None = None
    sm_lid: int | None = None
    state: str | None = None
    phys_state: str | None = None
    rate: float | None = None
    link_layer: str | None = None
    raw: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Ibstatus:
    """Every port listed, and what the tool said when it gave up."""

    ports: tuple[Status, ...]
    error: str = ""


class _Block:
    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self.port = port
        self.values: dict[str, tuple[int, str]] = {}


def parse(text: str) -> Ibstatus:
    """Read the output of ``ibstatus``; raise ParseError where it gives neither port nor error."""
    lines = clean_lines(text)
    if not any(line.strip() for line in lines):
        raise ParseError(_TOOL, 0, "", "empty output")
    blocks: dict[tuple[str, int], _Block] = {}
    current: _Block | None = None
    error = ""
    for line_no, line in enumerate(lines, 1):
        words = " ".join(_TMUX.sub("", line).split())
        header = _HEADER.fullmatch(words)
        if header is not None:
            current = _open(blocks, current, line_no, line, header)
        elif words.startswith(_FATAL):
            error = error or line.strip()
        else:
            _put(current, line_no, line, words)
    if not any(block.values for block in blocks.values()):
        if error:
            return Ibstatus((), error)
        line_no, line = next((n, line) for n, line in enumerate(lines, 1) if line.strip())
        raise ParseError(_TOOL, line_no, line, "no port and no error message from here to the end")
    return Ibstatus(tuple(_status(block) for block in blocks.values()), error)


def facts(parsed: Ibstatus) -> dict[str, Any]:
    """The same as a JSON-ready dictionary."""
    devices = []
    for one in parsed.ports:
        found: dict[str, Any] = {"name": one.name, "port": one.port, **dict(one.raw)}
        if one.lid is not None:
            found["lid_int"] = one.lid
        if one.sm_lid is not None:
            found["sm_lid_int"] = one.sm_lid
        if one.rate is not None:
            found["rate_gbps"] = one.rate
        devices.append(found)
    result: dict[str, Any] = {"devices": devices, "n_devices": len(devices)}
    if parsed.error:
        result.update(error=parsed.error, error_lines=[parsed.error])
        if not devices:
            result["n"] = 0
    return result


def _open(
    blocks: dict[tuple[str, int], _Block],
    current: _Block | None,
    line_no: int,
    line: str,
    header: re.Match[str],
) -> _Block:
    key = (header.group(1), int(header.group(2)))
    known = blocks.get(key)
    if known is None:
        known = blocks[key] = _Block(*key)
    elif known is not current or known.values:
        raise ParseError(_TOOL, line_no, line, "this port was already listed")
    return known


def _put(block: _Block | None, line_no: int, line: str, words: str) -> None:
    key, colon, value = words.partition(":")
    field = _KEYS.get(key.strip().lower())
    if not colon or field is None:
        return  # a pager's or terminal's own words
    if block is None:
        raise ParseError(_TOOL, line_no, line, "belongs to no port: its 'device' line is missing")
    known = block.values.get(field)
    if known is not None and known[1] != value.strip():
        raise ParseError(_TOOL, line_no, line, f"contradicts line {known[0]}")
    block.values[field] = (line_no, value.strip())


def _status(block: _Block) -> Status:
    def text(field: str) -> str | None:
        return block.values[field][1] if field in block.values else None

    return Status(
        name=block.name,
        port=block.port,
        gid=text("gid"),
        lid=_number(block, "lid"),
        sm_lid=_number(block, "sm_lid"),
        state=text("state"),
        phys_state=text("phys_state"),
        rate=_rate(block),
        link_layer=text("link_layer"),
        raw=tuple((field, value) for field, (_line_no, value) in block.values.items()),
    )


def _number(block: _Block, field: str) -> int | None:
    line_no, value = block.values.get(field, (0, ""))
    if not value:
        return None
    try:
        return to_int(value)
    except ValueError as exc:
        raise ParseError(_TOOL, line_no, f"{field}: {value}", str(exc)) from exc


def _rate(block: _Block) -> float | None:
    line_no, value = block.values.get("rate", (0, ""))
    if not value:
        return None
    try:
        return to_rate(value)
    except ValueError as exc:
        raise ParseError(_TOOL, line_no, f"rate: {value}", str(exc)) from exc
