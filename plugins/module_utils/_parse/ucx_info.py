# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ucx_info -v -d`` prints: the release of UCX, and what it can send through."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "ucx_info"
NOTHING: dict[str, Any] = {"version": None, "transports": []}
# 1.11 and later; before it `# UCT version=1.10.1 revision 6a5856e`.
_VERSION = re.compile(r"#\s{1,99}(?:Library\s{1,99}version:\s{1,99}|UCT\s{1,99}version=)([0-9][0-9A-Za-z.+-]{0,30}).*")
_TRANSPORT = re.compile(r"#\s{1,99}Transport:\s{1,99}(\S{1,40})")
_DEVICE = re.compile(r"#\s{1,99}Device:\s{1,99}(\S{1,80})")
# The last line of every transport's capabilities; a line with nothing but the # follows it.
_LAST = re.compile(r"#\s{1,99}error\s{1,99}handling:.*")


@dataclass(frozen=True)
class Transport:
    """``name``: rc_mlx5, dc_mlx5, ud_verbs, tcp, ... ``device``: mlx5_0:1, eth0, memory, ..."""

    name: str
    device: str


@dataclass(frozen=True)
class UcxInfo:
    """``version`` is "" where it was not asked for."""

    version: str
    transports: tuple[Transport, ...]


def parse(text: str) -> UcxInfo:
    """Read the output; ParseError where it names no transport, for there is always one."""
    version = ""
    transports: list[Transport] = []
    opened: tuple[int, str, str] | None = None
    whole, last = 0, False
    for line_no, line in enumerate(clean_lines(text), 1):
        reported = _VERSION.fullmatch(line)
        if reported is not None and not version:
            version = reported.group(1)
        transport, device = _TRANSPORT.fullmatch(line), _DEVICE.fullmatch(line)
        if transport is not None:
            if opened is not None:
                raise ParseError(_TOOL, opened[0], opened[1], "a transport without its device")
            opened = (line_no, line, transport.group(1))
        elif device is not None:
            if opened is None:
                raise ParseError(_TOOL, line_no, line, "a device without its transport")
            transports.append(Transport(opened[2], device.group(1)))
            opened = None
        whole += last and line == "#"
        last = _LAST.fullmatch(line) is not None or (last and not line)
    if opened is not None:
        raise ParseError(_TOOL, opened[0], opened[1], "a transport without its device")
    if not transports:
        raise ParseError(_TOOL, 0, "", "no transport, not even memory")
    if whole < len(transports):
        raise ParseError(_TOOL, 0, "", f"{transports[whole].name} is cut off: the text is not whole")
    return UcxInfo(version, tuple(transports))


def facts(parsed: UcxInfo) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "version": parsed.version or None,
        "transports": [asdict(transport) for transport in parsed.transports],
    }
