# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink -c`` prints: what each link can do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse import _nvlink
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvlink import Header
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

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
class _Block:
    gpu: Header
    links: dict[int, dict[str, bool]] = field(default_factory=dict)
    messages: dict[str, None] = field(default_factory=dict)


class _Reader:
    def __init__(self) -> None:
        self.blocks: dict[int | None, _Block] = {}
        self.block: _Block | None = None

    def take(self, line_no: int, line: str) -> None:
        gpu = _nvlink.header(line)
        found = _CAPABILITY.fullmatch(line)
        if gpu is not None:
            self._open(line_no, line, gpu)
        elif found is not None:
            self._capability(line_no, line, found)
        elif _nvlink.is_remark(line):
            self._current().messages[line] = None

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

    def _capability(self, line_no: int, line: str, found: re.Match[str]) -> None:
        link = self._current().links.setdefault(int(found.group(1)), {})
        name = found.group(2)
        name = name[: -len(" is")] if name.endswith(" is") else name
        value = found.group(3).lower() == "true"
        if link.setdefault(name, value) != value:
            raise ParseError(_TOOL, line_no, line, "contradicts an earlier line: no GPU line?")


def parse(text: str) -> NvlinkCaps:
    """Read the listing; raise ParseError where it tells of no GPU, or one thing in two ways."""
    lines = _nvlink.squeezed(_TOOL, text, "old drivers print nothing for GPUs without NVLink")
    reader = _Reader()
    for line_no, line in enumerate(lines, 1):
        if line and not _nvlink.is_refusal(line):
            reader.take(line_no, line)
    blocks = reader.blocks.values()
    if not any(block.links or block.messages for block in blocks):
        raise _nvlink.nothing(_TOOL, lines, "no capability of any link from here to the end")
    return NvlinkCaps(
        tuple(GpuCaps(one.gpu, one.links, tuple(one.messages)) for one in blocks),
        _nvlink.refusals(lines),
    )


def facts(parsed: NvlinkCaps) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    return {
        "gpus": [
            {
                "index": one.gpu.index,
                "name": one.gpu.name,
                "uuid": one.gpu.uuid,
                "links": {str(link): dict(caps) for link, caps in one.links.items()},
            }
            for one in parsed.gpus
        ]
    }
