# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink --status`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse import _nvlink
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvlink import Header
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

_TOOL = "nvlink_status"
NOTHING: dict[str, Any] = {"gpus": [], "n_gpus": 0}
INACTIVE = "inactive"

_LINK = re.compile(r"Link ([0-9]{1,3}): ?(.*)")
_RATE = re.compile(r"([0-9]{1,6})(?:[.,]([0-9]{1,6}))? ?GB/s")


@dataclass(frozen=True)
class Link:
    """One link: GB/s in one direction where it is up, else what stands in their place."""

    id: int
    gbps: float | None = None
    state: str = ""


@dataclass(frozen=True)
class GpuLinks:
    """The links of one GPU. ``messages``: why none are listed. ``cut``: lines may be missing.

    ``elided``: a person left lines out, and said so.
    """

    gpu: Header
    links: tuple[Link, ...] = ()
    messages: tuple[str, ...] = ()
    cut: bool = False
    elided: bool = False

    @property
    def active(self) -> tuple[Link, ...]:
        return tuple(one for one in self.links if one.gbps is not None)

    @property
    def down(self) -> tuple[Link, ...]:
        return tuple(one for one in self.links if one.gbps is None)


@dataclass(frozen=True)
class NvlinkStatus:
    """Every GPU that was listed, and the lines in which nvidia-smi gave up."""

    gpus: tuple[GpuLinks, ...]
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block:
    gpu: Header
    links: dict[int, Link] = field(default_factory=dict)
    last: Link | None = None
    messages: dict[str, None] = field(default_factory=dict)
    cut: bool = False
    elided: bool = False

    def put(self, line_no: int, line: str, link: Link) -> None:
        if self.messages:
            raise ParseError(_TOOL, line_no, line, "a link of a GPU of which it tells none")
        if link.id in self.links and link != self.last:
            raise ParseError(_TOOL, line_no, line, "a second link of this number: no GPU line?")
        self.links[link.id] = self.last = link


class _Reader:
    """Sorts lines into GPUs; a text without the first GPU line gives one of no index."""

    def __init__(self) -> None:
        self.blocks: dict[int | None, _Block] = {}
        self.block: _Block | None = None

    def take(self, line_no: int, line: str) -> None:
        gpu = _nvlink.header(line)
        link = _LINK.fullmatch(line)
        if gpu is not None:
            self._open(line_no, line, gpu)
        elif link is not None:
            self._link(line_no, line, int(link.group(1)), link.group(2))
        elif _nvlink.is_remark(line):
            block = self._current()
            if block.links:
                raise ParseError(_TOOL, line_no, line, "tells no links of a GPU after some of them")
            block.messages[line] = None
        elif self.block is not None:
            # An ellipsis, or a line that nobody knows: either may stand for links.
            self.block.cut = True
            self.block.elided = self.block.elided or _nvlink.is_elided(line)

    def _open(self, line_no: int, line: str, gpu: Header) -> None:
        known = self.blocks.get(gpu.index)
        if known is None:
            self.block = self.blocks[gpu.index] = _Block(gpu)
        elif known is not self.block or known.links or known.messages:
            raise ParseError(_TOOL, line_no, line, "this GPU was already listed")

    def _current(self) -> _Block:
        if self.block is None:
            self.block = self.blocks[None] = _Block(Header())
        return self.block

    def _link(self, line_no: int, line: str, number: int, value: str) -> None:
        block = self._current()
        rate = _RATE.fullmatch(value)
        if rate is not None:
            gbps = float(f"{rate.group(1)}.{rate.group(2) or 0}")
            block.put(line_no, line, Link(number, gbps))
        elif not value or value[0].isdigit():
            block.cut = True  # the line ends early
        else:
            block.put(line_no, line, Link(number, None, value.strip("<>").strip().lower()))


def parse(text: str) -> NvlinkStatus:
    """Read the listing; raise ParseError where it tells of no GPU."""
    lines = _nvlink.squeezed(_TOOL, text, "old drivers print nothing for GPUs without NVLink")
    reader = _Reader()
    for line_no, line in enumerate(lines, 1):
        if line and not _nvlink.is_refusal(line):
            reader.take(line_no, line)
    if not reader.blocks:
        raise _nvlink.nothing(_TOOL, lines, "no GPU and no link from here to the end")
    return NvlinkStatus(
        tuple(
            GpuLinks(one.gpu, tuple(one.links.values()), tuple(one.messages), one.cut, one.elided)
            for one in reader.blocks.values()
        ),
        _nvlink.refusals(lines),
    )


def facts(parsed: NvlinkStatus) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {
        "gpus": [_gpu(one) for one in parsed.gpus],
        "n_gpus": len(parsed.gpus),
    }
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found


def _gpu(one: GpuLinks) -> dict[str, Any]:
    found: dict[str, Any] = {
        "index": one.gpu.index,
        "name": one.gpu.name,
        "uuid": one.gpu.uuid,
        "links": [_link(link) for link in one.links],
    }
    if one.messages:
        found["messages"] = list(one.messages)
    found["active"] = len(one.active)
    found["inactive"] = sum(link.state == INACTIVE for link in one.links)
    return found


def _link(link: Link) -> dict[str, Any]:
    if link.gbps is None:
        return {"id": link.id, "state": link.state}
    return {"id": link.id, "gbps": link.gbps}
