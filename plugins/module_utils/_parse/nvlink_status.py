# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink --status`` prints."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground.text import ParseError
from . import _nvlink
from ._nvlink import Header

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
        return tuple(link for link in self.links if link.gbps is not None)

    @property
    def down(self) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.gbps is None)


@dataclass(frozen=True)
class NvlinkStatus:
    """Every GPU that was listed, and the lines in which nvidia-smi gave up."""

    gpus: tuple[GpuLinks, ...]
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    links: dict[int, Link] = field(default_factory=dict)
    last: Link | None = None
    cut: bool = False
    elided: bool = False

    @property
    def told(self) -> bool:
        return bool(self.links)

    def put(self, line_no: int, line: str, link: Link) -> None:
        if self.messages:
            raise ParseError(_TOOL, line_no, line, "a link of a GPU of which it tells none")
        if link.id in self.links and link != self.last:
            raise ParseError(_TOOL, line_no, line, "a second link of this number: no GPU line?")
        self.links[link.id] = self.last = link


class _Reader(_nvlink.Reader[_Block]):
    def take(self, line_no: int, line: str) -> None:
        link = _LINK.fullmatch(line)
        if link is not None:
            self._link(line_no, line, int(link.group(1)), link.group(2))
        elif _nvlink.is_remark(line):
            block = self.current()
            if block.links:
                raise ParseError(_TOOL, line_no, line, "tells no links of a GPU after some of them")
            block.messages[line] = None
        elif self.block is not None:
            # An ellipsis, or a line that nobody knows: either may stand for links.
            self.block.cut = True
            self.block.elided = self.block.elided or _nvlink.is_elided(line)

    def _link(self, line_no: int, line: str, number: int, value: str) -> None:
        block = self.current()
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
    reader = _Reader(_TOOL, _Block)
    errors = reader.read(text, "GPU and no link")
    return NvlinkStatus(
        tuple(
            GpuLinks(block.gpu, tuple(block.links.values()), tuple(block.messages), block.cut, block.elided)
            for block in reader.blocks.values()
        ),
        errors,
    )


def facts(parsed: NvlinkStatus) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {
        "gpus": [_gpu(gpu) for gpu in parsed.gpus],
        "n_gpus": len(parsed.gpus),
    }
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found


def _gpu(links: GpuLinks) -> dict[str, Any]:
    found: dict[str, Any] = {
        **asdict(links.gpu),
        "links": [_link(link) for link in links.links],
    }
    if links.messages:
        found["messages"] = list(links.messages)
    found["active"] = len(links.active)
    found["inactive"] = sum(link.state == INACTIVE for link in links.links)
    return found


def _link(link: Link) -> dict[str, Any]:
    if link.gbps is None:
        return {"id": link.id, "state": link.state}
    return {"id": link.id, "gbps": link.gbps}
