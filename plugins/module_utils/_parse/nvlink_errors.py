# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -e`` prints: error counters since the driver was loaded."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground.text import ParseError
from . import _nvlink
from ._nvlink import Header

_TOOL = "nvlink_errors"
NOTHING: dict[str, Any] = {"gpus": []}

_LINK = re.compile(r"Link ([0-9]{1,3})(?:, Lane ([0-9]{1,3}))?: (.{1,200})")
# Between several counters on one line.
_BETWEEN = ", "
# Somebody put links without errors on one line.
_RANGE = re.compile(r"Links [0-9][0-9, -]{0,40}: .{1,80}")
_COUNT = re.compile(r"[0-9]{1,20}")
_COUNTS_ERRORS = re.compile(r"[Ee]rrors?\b|events$|discards$")
_NO_COUNT = re.compile(r"\[?(?:N/A|Not Supported|Unknown Error)\]?")


@dataclass(frozen=True)
class Counter:
    """One counter of one link, or of one lane of it."""

    link: int
    counter: str
    value: int
    lane: int | None = None


@dataclass(frozen=True)
class GpuErrors:
    """The counters of one GPU. ``messages``: why there are none. ``told``: links were spoken of.

    ``summed_up``: somebody put links without errors on one line.
    """

    gpu: Header
    counters: tuple[Counter, ...] = ()
    messages: tuple[str, ...] = ()
    told: bool = False
    summed_up: bool = False

    @property
    def nonzero(self) -> tuple[Counter, ...]:
        return tuple(counter for counter in self.counters if counter.value)


@dataclass(frozen=True)
class NvlinkErrors:
    """Every GPU that was listed, and the lines in which nvidia-smi gave up."""

    gpus: tuple[GpuErrors, ...]
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    counters: dict[tuple[int, int | None, str], int] = field(default_factory=dict)
    last: tuple[int, int | None, str] | None = None
    summed_up: bool = False

    @property
    def told(self) -> bool:
        return self.summed_up or bool(self.counters)


class _Reader(_nvlink.Reader[_Block]):
    def take(self, line_no: int, line: str) -> None:
        link = _LINK.fullmatch(line)
        if link is not None:
            for reported in link.group(3).split(_BETWEEN):
                self._counter(line_no, line, link, reported)
        elif _RANGE.fullmatch(line) is not None:
            self.current().summed_up = True
        elif _nvlink.is_remark(line):
            self.current().messages[line] = None

    def _counter(self, line_no: int, line: str, link: re.Match[str], told: str) -> None:
        name, colon, value = told.rpartition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            return  # the line ends early
        block = self.current()
        if _COUNT.fullmatch(value) is None:
            if _COUNTS_ERRORS.search(name) and not _NO_COUNT.fullmatch(value):
                raise ParseError(_TOOL, line_no, line, "not a number")
            return
        key = (int(link.group(1)), int(link.group(2)) if link.group(2) else None, name)
        if key in block.counters and (key != block.last or block.counters[key] != int(value)):
            raise ParseError(_TOOL, line_no, line, "was already told: no GPU line?")
        block.counters[key] = int(value)
        block.last = key


def parse(text: str) -> NvlinkErrors:
    """Read the counters; raise ParseError where the text tells of no GPU."""
    reader = _Reader(_TOOL, _Block)
    errors = reader.read(text, "GPU and no counter")
    return NvlinkErrors(
        tuple(
            GpuErrors(
                block.gpu,
                tuple(Counter(link, name, value, lane) for (link, lane, name), value in block.counters.items()),
                tuple(block.messages),
                block.told,
                block.summed_up,
            )
            for block in reader.blocks.values()
        ),
        errors,
    )


def facts(parsed: NvlinkErrors) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {
        "gpus": [
            {
                **asdict(gpu.gpu),
                "nonzero": [{"link": bad.link, "counter": bad.counter, "value": bad.value} for bad in gpu.nonzero],
                "n_counters": len(gpu.counters),
                "n_links": len({counter.link for counter in gpu.counters}),
            }
            for gpu in parsed.gpus
        ]
    }
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found
