# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``rdma link`` of iproute2 prints, in its old form and its new one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines, ends_early, no_facts, to_int

_TOOL = "rdma link"
NOTHING: dict[str, Any] = {"links": [], "n_links": 0}

_INDEX = re.compile(r"[0-9]{1,6}/[0-9]{1,3}:")
_PORT = re.compile(r"([^\s/]{1,128})/([0-9]{1,3}):?")
_TEXT = ("subnet_prefix", "state", "physical_state", "netdev")
_NUMBERS = ("lid", "sm_lid", "lmc")
# What a link without an interface ends with.
_PHYSICAL = frozenset(
    (
        *("NOP", "SLEEP", "POLLING", "DISABLED", "ACTIVE", "PORT_CONFIGURATION_TRAINING", "LINK_UP"),
        *("LINK_ERROR_RECOVER", "PHY_TEST", "UNKNOWN"),
    )
)
_ERRORS = ("Failed to ", "Error", "error:", "Object ", "Wrong ", "rdma:", "RTNETLINK ")


@dataclass(frozen=True)
class Link:
    """One port; "" or None where a value was not shown."""

    name: str
    port: int
    state: str = ""
    physical_state: str = ""
    subnet_prefix: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    lmc: int | None = None
    netdev: str = ""


@dataclass(frozen=True)
class RdmaLink:
    """Every link, and what the tool said when it gave up. ``unread``: how many lines, or words in them,
    cannot be read."""

    links: tuple[Link, ...]
    error: str = ""
    unread: int = 0


class _Record:
    def __init__(self, line_no: int, line: str, name: str, port: int) -> None:
        self.line_no = line_no
        self.line = line
        self.name = name
        self.port = port
        self.words: list[str] = []
        self.unread = 0


def parse(text: str) -> RdmaLink:
    """Read the output; raise ParseError where it gives neither a link nor an error."""
    lines = clean_lines(text)
    records: dict[tuple[str, int], _Record] = {}
    current: _Record | None = None
    error = ""
    unread = 0
    early = ends_early(text)
    for line_no, line in enumerate(lines, 1):
        words = line.split()
        part = early and line_no == len(lines) and not line.startswith(_ERRORS) and not _ends(words)
        if part:
            words = words[:-1] if words[-1].isdigit() else words  # the number may go on
            unread += 1
        opened = _opened(line_no, line, words)
        if opened is not None:
            record, rest = opened
            if (record.name, record.port) in records:
                raise ParseError(_TOOL, line_no, line, "this link was already listed")
            current = records[(record.name, record.port)] = record
            current.words += rest
        elif line.startswith(_ERRORS):
            error = error or line.strip()
        elif words[:1] == ["link"] or (current is not None and "state" in current.words and "state" in words):
            current = None  # another link's, whose name is lost
            unread += not part
        elif current is not None:
            current.words += words  # a long line that a terminal or a mail has wrapped
    links = tuple(_link(record) for record in records.values())
    unread += sum(record.unread for record in records.values())
    if not any(link.state for link in links):
        if error:
            return RdmaLink((), error)
        reason = "no link with a state from here to the end"
        raise no_facts(_TOOL, lines, reason, "empty output: the kernel knows no RDMA link")
    return RdmaLink(links, error, unread)


def facts(parsed: RdmaLink) -> dict[str, Any]:
    """The same as a JSON-ready dictionary; what a link does not show is left out."""
    links = []
    for link in parsed.links:
        shown = {key: getattr(link, key) for key in (*_TEXT, *_NUMBERS)}
        found: dict[str, Any] = {"name": link.name, "port": link.port}
        found.update({key: value for key, value in shown.items() if value not in ("", None)})
        links.append(found)
    result: dict[str, Any] = {"links": links, "n_links": len(links), "unread": parsed.unread}
    if not parsed.error and not all(link.state for link in parsed.links):
        result["cut"] = True
    if parsed.error:
        result.update(error=parsed.error, error_lines=[parsed.error])
        if not links:
            result["n"] = 0
    return result


def _ends(words: list[str]) -> bool:
    """Whether a link's words may end here: a text without its last newline has them all."""
    key, value = ["", "", *words][-2:]
    return key == "netdev" or (key == "physical_state" and value in _PHYSICAL) or value.endswith(">")


def _opened(line_no: int, line: str, words: list[str]) -> tuple[_Record, list[str]] | None:
    """The record that a line opens, and its other words; None for any other line."""
    if len(words) < 2 or not (words[0] == "link" or _INDEX.fullmatch(words[0])):
        return None
    port = _PORT.fullmatch(words[1])
    if port is None:
        return None
    return _Record(line_no, line, port.group(1), int(port.group(2))), words[2:]


def _link(record: _Record) -> Link:
    found: dict[str, Any] = {}
    words = iter(record.words)
    for key in words:
        if key in _TEXT:
            found.setdefault(key, next(words, ""))
        elif key in _NUMBERS:
            value = next(words, "")
            try:
                found.setdefault(key, to_int(value) if value else None)
            except ValueError:
                record.unread += 1
    return Link(record.name, record.port, **found)
