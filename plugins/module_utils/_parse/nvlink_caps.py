# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -c`` prints: what each link can do."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground.text import ParseError
from . import _nvlink
from ._nvlink import Header

_TOOL = "nvlink_caps"
NOTHING: dict[str, Any] = {"gpus": []}
P2P = "P2P"
P2P_ATOMICS = "P2P atomics"

_CAPABILITY = re.compile(r"Link ([0-9]{1,3}), (.{1,60}) supported: (true|false)", re.IGNORECASE)


@dataclass(frozen=True)
class GpuCaps:
    """The capabilities of one GPU's links, by link and name. ``messages``: why there are none."""

    gpu: Header
    links: dict[int, dict[str, bool]] = field(default_factory=dict)
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class NvlinkCaps:
    """Every GPU that was listed."""

    gpus: tuple[GpuCaps, ...]
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    links: dict[int, dict[str, bool]] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        return bool(self.links)


class _Reader(_nvlink.Reader[_Block]):
    def take(self, line_no: int, line: str) -> None:
        found = _CAPABILITY.fullmatch(line)
        if found is not None:
            self._capability(line_no, line, found)
        elif _nvlink.is_remark(line):
            self.current().messages[line] = None

    def found(self) -> bool:
        return any(block.told or block.messages for block in self.blocks.values())

    def _capability(self, line_no: int, line: str, found: re.Match[str]) -> None:
        link = self.current().links.setdefault(int(found.group(1)), {})
        name = found.group(2)
        name = name[: -len(" is")] if name.endswith(" is") else name
        value = found.group(3).lower() == "true"
        if link.setdefault(name, value) != value:
            raise ParseError(_TOOL, line_no, line, "contradicts an earlier line: no GPU line?")


def parse(text: str) -> NvlinkCaps:
    """Read the listing; raise ParseError where it tells of no GPU, or one thing in two ways."""
    reader = _Reader(_TOOL, _Block)
    errors = reader.read(text, "capability of any link")
    blocks = reader.blocks.values()
    return NvlinkCaps(tuple(GpuCaps(block.gpu, block.links, tuple(block.messages)) for block in blocks), errors)


def facts(parsed: NvlinkCaps) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    return {
        "gpus": [
            {**asdict(gpu.gpu), "links": {str(link): dict(caps) for link, caps in gpu.links.items()}}
            for gpu in parsed.gpus
        ]
    }
