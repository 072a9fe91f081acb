# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibstatus`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable

from .._ground.text import ParseError, clean_lines, ends_early, no_facts, to_int, to_rate
from ._block import Block

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
_NUMBERS: dict[str, Callable[[str], object]] = {"lid": to_int, "sm_lid": to_int, "rate": to_rate}
# Lines that cannot go on, by their field: what a text ends with that only lost its last newline.
_WHOLE = {
    "gid": re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}"),
    "state": re.compile(r"[0-9]: (?:NOP|DOWN|INIT|ARMED|ACTIVE|ACTIVE_DEFER)"),
    "phys_state": re.compile(
        r"[0-9]: (?:Sleep|Polling|Disabled|PortConfigurationTraining|LinkUp|LinkErrorRecovery|Phy ?Test)"
    ),
    "rate": re.compile(r".{1,30}\)"),
    "link_layer": re.compile(r"InfiniBand|Ethernet|Unspecified|Unknown"),
}
_BEGINNING = "infiniband device"
_FATAL = "Fatal error:"
# tmux shows the place in its own scrollback over the end of a line.
_TMUX = re.compile(r"\[[0-9]{1,7}/[0-9]{1,7}\]$")


class _Nameless(ParseError):
    """A line of a port that is not known."""


class _Number(ParseError):
    """A number that is none, or a line that the text ends within."""


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
    """Every port listed, and what the tool said when it gave up. ``unread``: how many lines belong to a port
    whose own line is missing, or have a number that is damaged, and the last line where the text ends within it."""

    ports: tuple[Status, ...]
    error: str = ""
    unread: int = 0


def parse(text: str) -> Ibstatus:
    """Read the output of ``ibstatus``; raise ParseError where it gives neither port nor error."""
    lines = clean_lines(text)
    blocks: dict[tuple[str, int], Block] = {}
    current: Block | None = None
    error = ""
    strange: list[ParseError] = []
    last = len(lines) if ends_early(text) else 0
    for line_no, line in enumerate(lines, 1):
        words = " ".join(_TMUX.sub("", line).split())
        header = _HEADER.fullmatch(words)
        try:
            if line_no == last and _may_go_on(words):
                raise _Number(_TOOL, line_no, line, "the text ends within this line")
            if header is not None:
                current = _open(blocks, current, line_no, line, header)
            elif words.startswith(_FATAL):
                error = error or line.strip()
            else:
                _put(current, line_no, line, words)
        except _Nameless as exc:
            # What comes next is of no port that is known.
            current = None
            strange.append(exc)
        except _Number as exc:
            strange.append(exc)
    if not any(block.values for block in blocks.values()):
        if error:
            return Ibstatus((), error)
        if strange:
            raise strange[0]
        raise no_facts(_TOOL, lines, "no port and no error message from here to the end")
    return Ibstatus(tuple(_status(block, port) for (_name, port), block in blocks.items()), error, len(strange))


def facts(parsed: Ibstatus) -> dict[str, Any]:
    """The same as a JSON-ready dictionary."""
    devices = []
    for port in parsed.ports:
        found: dict[str, Any] = {"name": port.name, "port": port.port, **dict(port.raw)}
        if port.lid is not None:
            found["lid_int"] = port.lid
        if port.sm_lid is not None:
            found["sm_lid_int"] = port.sm_lid
        if port.rate is not None:
            found["rate_gbps"] = port.rate
        devices.append(found)
    result: dict[str, Any] = {"devices": devices, "n_devices": len(devices), "unread": parsed.unread}
    if not parsed.error and not all(port.state for port in parsed.ports):
        result["cut"] = True
    if parsed.error:
        result.update(error=parsed.error, error_lines=[parsed.error])
        if not devices:
            result["n"] = 0
    return result


def _open(
    blocks: dict[tuple[str, int], Block],
    current: Block | None,
    line_no: int,
    line: str,
    header: re.Match[str],
) -> Block:
    key = (header.group(1), int(header.group(2)))
    known = blocks.get(key)
    if known is None:
        known = blocks[key] = Block(_TOOL, key[0])
    elif known is not current or known.values:
        raise ParseError(_TOOL, line_no, line, "this port was already listed")
    return known


def _may_go_on(words: str) -> bool:
    """Whether it is the beginning of a line that the tool prints, or may be."""
    key, colon, value = words.partition(":")
    key = key.strip().lower()
    if colon and _KEYS.get(key) in _WHOLE:
        return _WHOLE[_KEYS[key]].fullmatch(value.strip()) is None
    if key in _KEYS or key.startswith(_BEGINNING):
        return not words.endswith("status:")
    return not colon and any(name.startswith(key) for name in (_BEGINNING, *_KEYS))


def _put(block: Block | None, line_no: int, line: str, words: str) -> None:
    key, colon, value = words.partition(":")
    field = _KEYS.get(key.strip().lower())
    value = value.strip()
    if not colon or field is None:
        return  # a pager's or terminal's own words
    if block is None or block.values.get(field, (0, value))[1] != value:
        raise _Nameless(_TOOL, line_no, line, "belongs to no port: its 'device' line is missing")
    if value and field in _NUMBERS:
        try:
            _NUMBERS[field](value)
        except ValueError as exc:
            raise _Number(_TOOL, line_no, line, str(exc)) from exc
    block.put(field, line_no, line, value)


def _status(block: Block, port: int) -> Status:
    texts = dict(block.pairs())
    return Status(
        name=block.name,
        port=port,
        gid=texts.get("gid"),
        lid=block.number("lid", "lid", to_int),
        sm_lid=block.number("sm_lid", "sm_lid", to_int),
        state=texts.get("state"),
        phys_state=texts.get("phys_state"),
        rate=block.number("rate", "rate", to_rate),
        link_layer=texts.get("link_layer"),
        raw=block.pairs(),
    )
