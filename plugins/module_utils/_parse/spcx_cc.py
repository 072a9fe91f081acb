# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``pgrep -x -a 'doca_spcx_cc|systemd|init'`` prints: for which RDMA devices Spectrum-X's congestion control
runs. The first process of the host is asked for along with it: where nobody shows that, others are hidden as well."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._data.spectrum_x import CONGESTION
from .._ground.text import ParseError, ends_early, flat_lines, no_facts

_TOOL = "spcx_cc"
_LINE = re.compile(r"([1-9][0-9]{0,9}) (.+)")
_OPTIONS = ("-d", "--device")


@dataclass(frozen=True)
class Programs:
    """``devices``: what each is told to serve, one a process. ``first``: whether process 1 is shown."""

    devices: tuple[str, ...] = ()
    first: bool = False


def parse(text: str) -> Programs:
    """Read every process; ParseError where none is listed, or one that names no device."""
    devices: list[str] = []
    first = False
    lines = [line.strip() for line in flat_lines(text)]
    for line_no, line in enumerate(lines, 1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ParseError(_TOOL, line_no, line, "no process and its words")
        first = first or match.group(1) == "1"
        program, *words = match.group(2).split()
        if program.rpartition("/")[2] != CONGESTION:
            continue
        device = _device(words)
        if not device:
            raise ParseError(_TOOL, line_no, line, "it names no device (-d)")
        devices.append(device)
    if lines and ends_early(text):
        raise ParseError(_TOOL, len(lines), lines[-1], "the text ends within a line")
    if not lines:
        raise no_facts(_TOOL, lines, "", empty="no process is shown, not even the first")
    return Programs(tuple(devices), first)


def _device(words: list[str]) -> str:
    """What stands behind the option, after a blank or a sign of equality; "" where nothing does."""
    for word, after in zip(words, [*words[1:], ""]):
        option, equals, value = word.partition("=")
        if option in _OPTIONS:
            return value if equals else after
    return ""
