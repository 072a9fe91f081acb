# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -e`` prints: error counters since the driver was loaded."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

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

    ``summed_up``: somebody put links without errors on one line. ``cut``: lines may be missing.
    """

    gpu: Header
    counters: tuple[Counter, ...] = ()
    messages: tuple[str, ...] = ()
    told: bool = False
    summed_up: bool = False
    cut: bool = False

    @property
    def nonzero(self) -> tuple[Counter, ...]:
        return tuple(counter for counter in self.counters if counter.value)


@dataclass(frozen=True)
class NvlinkErrors(_nvlink.Listing):
    """Every GPU that was listed, and the lines in which nvidia-smi gave up. ``headless``: counters of GPUs whose own
    line is missing or cannot be read."""

    gpus: tuple[GpuErrors, ...] = ()
    headless: tuple[GpuErrors, ...] = ()


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
                self._counter(link, reported)
        elif _RANGE.fullmatch(line) is not None:
            self.current().summed_up = True
        elif _nvlink.is_remark(line):
            block = self.current()
            if block.told:
                block = self.next()
            block.messages[line] = None
        else:
            self.unknown(line)

    def _counter(self, link: re.Match[str], told: str) -> None:
        name, colon, value = told.rpartition(":")
        name, value = name.strip(), value.strip()
        known = _COUNT.fullmatch(value) is not None
        if not colon or not name or not value or self.in_doubt:
            self.current().cut = True  # the line ends early
            return
        if not known:
            if _COUNTS_ERRORS.search(name) and not _NO_COUNT.fullmatch(value):
                self.current().cut = True  # a number that is damaged
            return
        key = (int(link.group(1)), int(link.group(2)) if link.group(2) else None, name)
        block = self.current()
        again = key in block.counters and (key != block.last or block.counters[key] != int(value))
        if block.messages or again:
            block = self.next()
        block.counters[key] = int(value)
        block.last = key


def parse(text: str) -> NvlinkErrors:
    """Read the counters; raise ParseError where the text tells of none."""
    reader = _Reader(_TOOL, _Block)
    told = reader.read(text, "GPU and no counter")
    gpus, headless = (tuple(map(_gpu, blocks)) for blocks in (reader.blocks.values(), reader.headless))
    return NvlinkErrors(told.error_lines, told.cut, gpus, headless)


def _gpu(block: _Block) -> GpuErrors:
    return GpuErrors(
        block.gpu,
        tuple(Counter(link, name, value, lane) for (link, lane, name), value in block.counters.items()),
        tuple(block.messages),
        block.told,
        block.summed_up,
        block.cut,
    )


def facts(parsed: NvlinkErrors) -> dict[str, Any]:
    """As docs/parsers.md has it; GPUs whose own line is missing have no index."""
    found: dict[str, Any] = {
        "gpus": [
            {
                **asdict(gpu.gpu),
                "nonzero": [{"link": bad.link, "counter": bad.counter, "value": bad.value} for bad in gpu.nonzero],
                "n_counters": len(gpu.counters),
                "n_links": len({counter.link for counter in gpu.counters}),
            }
            for gpu in (*parsed.gpus, *parsed.headless)
        ],
        "cut": bool(parsed.cut),
    }
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found
