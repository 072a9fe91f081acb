# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -c`` prints: what each link can do."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from . import _nvlink
from ._nvlink import Header

_TOOL = "nvlink_caps"
NOTHING: dict[str, Any] = {"gpus": []}
P2P = "P2P"
P2P_ATOMICS = "P2P atomics"

_CAPABILITY = re.compile(r"Link ([0-9]{1,3}), (.{1,60}) supported: (true|false)", re.IGNORECASE)


@dataclass(frozen=True)
class GpuCaps:
    """The capabilities of one GPU's links, by link and name. ``messages``: why there are none.

    ``cut``: lines may be missing.
    """

    gpu: Header
    links: dict[int, dict[str, bool]] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True)
class NvlinkCaps(_nvlink.Listing):
    """Every GPU that was listed. ``headless``: links of GPUs whose own line is missing or cannot be read."""

    gpus: tuple[GpuCaps, ...] = ()
    headless: tuple[GpuCaps, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    links: dict[int, dict[str, bool]] = field(default_factory=dict)
    last: tuple[int, str] | None = None

    @property
    def told(self) -> bool:
        return bool(self.links)


class _Reader(_nvlink.Reader[_Block]):
    def take(self, line_no: int, line: str) -> None:
        found = _CAPABILITY.fullmatch(line)
        if found is not None:
            self._capability(int(found.group(1)), found.group(2), found.group(3).lower() == "true")
        elif _nvlink.is_remark(line):
            block = self.current()
            if block.links:
                block = self.next()
            block.messages[line] = None
        else:
            self.unknown(line)

    def found(self) -> bool:
        return any(block.told or block.messages for block in (*self.blocks.values(), *self.headless))

    def _capability(self, number: int, name: str, value: bool) -> None:
        name = name[: -len(" is")] if name.endswith(" is") else name
        block = self.current()
        told = block.links.get(number, {})
        again = name in told and (block.last != (number, name) or told[name] != value)
        if block.messages or again:
            block = self.next()
        block.links.setdefault(number, {})[name] = value
        block.last = (number, name)


def parse(text: str) -> NvlinkCaps:
    """Read the listing; raise ParseError where it tells of no GPU."""
    reader = _Reader(_TOOL, _Block)
    told = reader.read(text, "capability of any link")
    gpus, headless = (
        tuple(GpuCaps(block.gpu, block.links, tuple(block.messages), block.cut) for block in blocks)
        for blocks in (reader.blocks.values(), reader.headless)
    )
    return NvlinkCaps(told.error_lines, told.cut, gpus, headless)


def facts(parsed: NvlinkCaps) -> dict[str, Any]:
    """As docs/parsers.md has it; GPUs whose own line is missing have no index."""
    return {
        "gpus": [
            {**asdict(gpu.gpu), "links": {str(link): dict(caps) for link, caps in gpu.links.items()}}
            for gpu in (*parsed.gpus, *parsed.headless)
        ],
        "cut": bool(parsed.cut),
    }
