# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -e`` prints: error counters since the driver was loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse import _nvlink
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvlink import Header
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

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
        return tuple(one for one in self.counters if one.value)


@dataclass(frozen=True)
class NvlinkErrors:
    """Every GPU that was listed, and the lines in which nvidia-smi gave up."""

    gpus: tuple[GpuErrors, ...]
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block:
    gpu: Header
    counters: dict[tuple[int, int | None, str], int] = field(default_factory=dict)
    last: tuple[int, int | None, str] | None = None
    messages: dict[str, None] = field(default_factory=dict)
    told: bool = False
    summed_up: bool = False


class _Reader:
    def __init__(self) -> None:
        self.blocks: dict[int | None, _Block] = {}
        self.block: _Block | None = None

    def take(self, line_no: int, line: str) -> None:
        gpu = _nvlink.header(line)
        link = _LINK.fullmatch(line)
        if gpu is not None:
            self._open(line_no, line, gpu)
        elif link is not None:
            for told in link.group(3).split(_BETWEEN):
                self._counter(line_no, line, link, told)
        elif _RANGE.fullmatch(line) is not None:
            block = self._current()
            block.told = block.summed_up = True
        elif _nvlink.is_remark(line):
            self._current().messages[line] = None

    def _open(self, line_no: int, line: str, gpu: Header) -> None:
        known = self.blocks.get(gpu.index)
        if known is None:
            self.block = self.blocks[gpu.index] = _Block(gpu)
        elif known is not self.block or known.told or known.messages:
            raise ParseError(_TOOL, line_no, line, "this GPU was already listed")

    def _current(self) -> _Block:
        if self.block is None:
            self.block = self.blocks[None] = _Block(Header())
        return self.block

    def _counter(self, line_no: int, line: str, link: re.Match[str], told: str) -> None:
        name, colon, value = told.rpartition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            return  # the line ends early
        block = self._current()
        if _COUNT.fullmatch(value) is None:
            if _COUNTS_ERRORS.search(name) and not _NO_COUNT.fullmatch(value):
                raise ParseError(_TOOL, line_no, line, "not a number")
            return
        key = (int(link.group(1)), int(link.group(2)) if link.group(2) else None, name)
        if key in block.counters and (key != block.last or block.counters[key] != int(value)):
            raise ParseError(_TOOL, line_no, line, "was already told: no GPU line?")
        block.counters[key] = int(value)
        block.last = key
        block.told = True


def parse(text: str) -> NvlinkErrors:
    """Read the counters; raise ParseError where the text tells of no GPU."""
    lines = _nvlink.squeezed(_TOOL, text, "old drivers print nothing for GPUs without NVLink")
    reader = _Reader()
    for line_no, line in enumerate(lines, 1):
        if line and not _nvlink.is_refusal(line):
            reader.take(line_no, line)
    if not reader.blocks:
        raise _nvlink.nothing(_TOOL, lines, "no GPU and no counter from here to the end")
    return NvlinkErrors(
        tuple(
            GpuErrors(
                one.gpu,
                tuple(
                    Counter(link, name, value, lane)
                    for (link, lane, name), value in one.counters.items()
                ),
                tuple(one.messages),
                one.told,
                one.summed_up,
            )
            for one in reader.blocks.values()
        ),
        _nvlink.refusals(lines),
    )


def facts(parsed: NvlinkErrors) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {
        "gpus": [
            {
                "index": one.gpu.index,
                "name": one.gpu.name,
                "uuid": one.gpu.uuid,
                "nonzero": [
                    {"link": bad.link, "counter": bad.counter, "value": bad.value}
                    for bad in one.nonzero
                ],
                "n_counters": len(one.counters),
                "n_links": len({counter.link for counter in one.counters}),
            }
            for one in parsed.gpus
        ]
    }
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found
