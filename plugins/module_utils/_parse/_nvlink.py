# SPDX-License-Identifier: GPL-3.0-or-later
"""What the three forms of ``nvidia-smi nvlink`` share: GPUs with their lines, remarks, marks of a cut text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable, Generic, TypeVar

from .._ground.text import ParseError, flat_lines, no_facts

_GPU = re.compile(r"GPU ([0-9]{1,4}): ?(.*)")
_UUID = " (UUID:"
# Where a person left something out.
_ELIDED = re.compile(r"\[?(?:\.{3}|\u2026|snip\w{0,4}|truncated|cut)\]?")
# How nvidia-smi begins when it gives up, on the whole or on one GPU.
_REFUSALS = (
    "NVIDIA-SMI has failed",
    "Failed to initialize NVML",
    "Failed to initialize NVIDIA",
    "Unable to determine the device handle",
    "No devices were found",
    "ERROR",
    "Error",
)
_REMARKS = ("device does not", "not support", "unable to retrieve")


@dataclass(frozen=True)
class Header:
    """The line that begins a GPU; None where the text has none, or it does not say."""

    index: int | None = None
    name: str | None = None
    uuid: str | None = None

    @property
    def label(self) -> str:
        """``GPU 3``, the subject of checks."""
        return "GPU" if self.index is None else f"GPU {self.index}"


def header(line: str) -> Header | None:
    """``GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5a10...)``; the part in brackets may be missing."""
    match = _GPU.fullmatch(line)
    if match is None:
        return None
    name, found, rest = match.group(2).partition(_UUID)
    uuid = rest.strip().rstrip(")").strip() if found else ""
    return Header(int(match.group(1)), name.strip() or None, uuid or None)


def is_remark(line: str) -> bool:
    """Whether nvidia-smi says here why it tells nothing of a GPU's links.

    Headings and prompts that stand around a listing may name NVLink too.
    """
    small = line.lower()
    return small.startswith("nvml") or any(word in small for word in _REMARKS)


def is_elided(line: str) -> bool:
    """Whether the line stands for others that were left out."""
    return _ELIDED.fullmatch(line) is not None


def is_refusal(line: str) -> bool:
    """Whether nvidia-smi gives up here."""
    return line.startswith(_REFUSALS)


def refusals(lines: list[str]) -> tuple[str, ...]:
    """The lines in which nvidia-smi gives up."""
    return tuple(line for line in lines if is_refusal(line))


def nothing(tool: str, lines: list[str], reason: str, empty: str = "empty output") -> ParseError:
    """The error for a text without facts: it names the refusal, else the first line."""
    said = refusals(lines)
    if said:
        return ParseError(tool, lines.index(said[0]) + 1, said[0], "nvidia-smi gave up", said)
    return no_facts(tool, lines, reason, empty)


@dataclass
class Block:
    """The lines of one GPU, gathered before they are read. ``messages``: why it has no links."""

    gpu: Header
    messages: dict[str, None] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        """Whether a link of this GPU was spoken of."""
        raise NotImplementedError


B = TypeVar("B", bound=Block)


class Reader(Generic[B]):
    """Sorts lines into GPUs; a text without the first GPU line gives one of no index."""

    def __init__(self, tool: str, new: Callable[[Header], B]) -> None:
        self.tool = tool
        self.blocks: dict[int | None, B] = {}
        self.block: B | None = None
        self._new = new

    def read(self, text: str, wanted: str) -> tuple[str, ...]:
        """Take every line, and return those in which nvidia-smi gives up; ParseError without ``wanted``."""
        lines = flat_lines(text)
        for line_no, line in enumerate(lines, 1):
            if not line or is_refusal(line):
                continue
            gpu = header(line)
            if gpu is None:
                self.take(line_no, line)
            else:
                self._open(line_no, line, gpu)
        if not self.found():
            empty = "empty output: old drivers print nothing for GPUs without NVLink"
            raise nothing(self.tool, lines, f"no {wanted} from here to the end", empty)
        return refusals(lines)

    def found(self) -> bool:
        """Whether there was anything to tell."""
        return bool(self.blocks)

    def take(self, line_no: int, line: str) -> None:
        """A line that begins no GPU."""
        raise NotImplementedError

    def current(self) -> B:
        """The GPU that a line belongs to."""
        if self.block is None:
            self.block = self.blocks[None] = self._new(Header())
        return self.block

    def _open(self, line_no: int, line: str, gpu: Header) -> None:
        known = self.blocks.get(gpu.index)
        if known is None:
            self.block = self.blocks[gpu.index] = self._new(gpu)
        elif known is not self.block or known.told or known.messages:
            raise ParseError(self.tool, line_no, line, "this GPU was already listed")
