# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink --status`` prints."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

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
class NvlinkStatus(_nvlink.Listing):
    """Every GPU that was listed, and the lines in which nvidia-smi gave up. ``headless``: links of GPUs whose own
    line is missing or cannot be read."""

    gpus: tuple[GpuLinks, ...] = ()
    headless: tuple[GpuLinks, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    links: dict[int, Link] = field(default_factory=dict)
    last: Link | None = None

    @property
    def told(self) -> bool:
        return bool(self.links)

    def precedes(self, link: Link) -> bool:
        """Whether this may be the next link of the GPU: they come by number, once or as a copying slip twice."""
        if self.messages:
            return False
        return self.last is None or link == self.last or link.id > self.last.id

    def put(self, link: Link) -> None:
        # nvidia-smi lists each of its links, those that are down as well.
        self.cut = self.cut or link.id > len(self.links)
        self.links[link.id] = self.last = link


class _Reader(_nvlink.Reader[_Block]):
    other = False  # whether there are lines of nvidia-smi's other listings

    def found(self) -> bool:
        every = [*self.blocks.values(), *self.headless]
        return any(block.told or block.messages for block in every) or (bool(self.blocks) and not self.other)

    def take(self, line_no: int, line: str) -> None:
        link = _LINK.fullmatch(line)
        if link is not None and ":" in link.group(2):
            self.other = True
            self.unknown(line)
        elif link is not None:
            self._link(int(link.group(1)), link.group(2))
        elif _nvlink.is_remark(line):
            block = self.current()
            if block.links:
                block = self.next()
            block.messages[line] = None
        else:
            self.unknown(line)

    def _link(self, number: int, value: str) -> None:
        rate = _RATE.fullmatch(value)
        if rate is not None:
            self._put(Link(number, float(f"{rate.group(1)}.{rate.group(2) or 0}")))
        elif not value or value[0].isdigit() or (value[-1] != ">" and (value[0] == "<" or self.in_doubt)):
            self.current().cut = True  # the line ends early
        else:
            self._put(Link(number, None, value.strip("<>").strip().lower()))

    def _put(self, link: Link) -> None:
        block = self.current()
        if not block.precedes(link):
            block = self.next()
        block.put(link)


def parse(text: str) -> NvlinkStatus:
    """Read the listing; raise ParseError where it tells of no link."""
    reader = _Reader(_TOOL, _Block)
    told = reader.read(text, "GPU and no link")
    gpus, headless = (
        tuple(
            GpuLinks(block.gpu, tuple(block.links.values()), tuple(block.messages), block.cut, block.elided)
            for block in blocks
        )
        for blocks in (reader.blocks.values(), reader.headless)
    )
    return NvlinkStatus(told.error_lines, told.cut, gpus, headless)


def facts(parsed: NvlinkStatus) -> dict[str, Any]:
    """As docs/parsers.md has it; those whose own line is missing have no index, and do not count."""
    found: dict[str, Any] = {
        "gpus": [_gpu(gpu) for gpu in (*parsed.gpus, *parsed.headless)],
        "n_gpus": len(parsed.gpus),
        "cut": bool(parsed.cut),
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
