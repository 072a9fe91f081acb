# SPDX-License-Identifier: GPL-3.0-or-later
"""What the three forms of ``nvidia-smi nvlink`` share: GPUs with their lines, remarks, marks of a cut text.

Lines whose GPU's own line is missing, or cannot be read, belong to no GPU that is known: a block of
theirs is ``headless``, and the text is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable, Generic, TypeVar

from .._ground.text import ParseError, ends_early, flat_lines, no_facts, printable

_GPU = re.compile(r"GPU ([0-9]{1,4}): ?(.*)")
_UUID = " (UUID:"
# Where a person left something out.
_ELIDED = re.compile(r"\[?(?:\.{3,12}|\u2026|snip\w{0,4}|truncated|cut)\]?")
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
_REMARKS = re.compile(r"^(?:this |the )?device does not|unable to retrieve|link.*not support|not support.*link")
# What may be the line of a GPU, in words that are not nvidia-smi's or were damaged.
_HEADLINE = re.compile(r"\bGPU|UUID|^Device\b|:$")


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
    if "=" in line or line.startswith("["):
        return False  # of a legend, of the kernel's log
    small = line.lower()
    return small.startswith("nvml") or _REMARKS.search(small) is not None


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


@dataclass(frozen=True)
class Listing:
    """What a text tells beside its GPUs. ``cut``: which part of it is missing, "" where none is."""

    error_lines: tuple[str, ...] = ()
    cut: str = ""


@dataclass
class Block:
    """The lines of one GPU, gathered before they are read. ``messages``: why it has no links.

    ``cut``: lines may be missing. ``elided``: a person left lines out, and said so.
    """

    gpu: Header
    messages: dict[str, None] = field(default_factory=dict)
    cut: bool = False
    elided: bool = False

    @property
    def told(self) -> bool:
        """Whether a link of this GPU was spoken of."""
        raise NotImplementedError


B = TypeVar("B", bound=Block)


class Reader(Generic[B]):
    """Sorts lines into GPUs. ``in_doubt``: the line at hand may end too early, for the text ends within it."""

    def __init__(self, tool: str, new: Callable[[Header], B]) -> None:
        self.tool = tool
        self.blocks: dict[int | None, B] = {}
        self.headless: list[B] = []
        self.block: B | None = None
        self.in_doubt = False
        self._new = new

    def read(self, text: str, wanted: str) -> Listing:
        """Take every line; ParseError without ``wanted``."""
        lines = flat_lines(text)
        early = ends_early(text)
        for line_no, line in enumerate(lines, 1):
            if not line or is_refusal(line):
                continue
            self.in_doubt = early and line_no == len(lines)
            gpu = header(line)
            if gpu is None:
                self.take(line_no, line)
            else:
                self._open(line_no, line, gpu)
        self.headless = [block for block in self.headless if block.told or block.messages]
        if not self.found():
            empty = "empty output: old drivers print nothing for GPUs without NVLink"
            raise nothing(self.tool, lines, f"no {wanted} from here to the end", empty)
        return Listing(refusals(lines), self._cut(lines[-1] if early else ""))

    def _cut(self, last: str) -> str:
        """Which part of the text is missing; ``last``: the line that it ends within."""
        every = [*self.blocks.values(), *self.headless]
        if any(block.elided for block in every):
            return "the text is cut: somebody shortened it, and the rest is not in the bundle"
        if not self.blocks and self.headless:
            return "the text is cut: the line of its GPU is not in the bundle"
        if self.headless:
            return "the text is cut: the line of a GPU is missing, or cannot be read"
        if last:
            return f"the text is cut: it ends within the line '{printable(last)}'"
        labels = [block.gpu.label for block in every if block.cut]
        return f"the text is cut: lines of {labels[0]} are missing, or cannot be read" if labels else ""

    def found(self) -> bool:
        """Whether there was anything to tell."""
        return bool(self.blocks or self.headless)

    def take(self, line_no: int, line: str) -> None:
        """A line that begins no GPU."""
        raise NotImplementedError

    def current(self) -> B:
        """The GPU that a line belongs to; one that is not known where its own line is missing."""
        if self.block is None:
            self.block = self._new(Header())
            self.headless.append(self.block)
        return self.block

    def next(self) -> B:
        """The GPU behind the current one, whose own line is missing; the end of the current one may be, too."""
        self.close()
        return self.current()

    def close(self) -> None:
        """What follows is not of the current GPU, of which lines may be missing."""
        if self.block is not None:
            self.block.cut = True
        self.block = None

    def unknown(self, line: str) -> None:
        """A line that nobody knows, or an ellipsis: either may stand for others."""
        if self.block is None:
            return
        self.block.cut = True
        self.block.elided = self.block.elided or is_elided(line)
        if _HEADLINE.search(line):
            self.close()

    def _open(self, line_no: int, line: str, gpu: Header) -> None:
        if self.in_doubt and not line.endswith(")"):
            gpu = Header(gpu.index)
        known = self.blocks.get(gpu.index)
        if known is None:
            self.block = self.blocks[gpu.index] = self._new(gpu)
        elif known is not self.block or known.told or known.messages:
            raise ParseError(self.tool, line_no, line, "this GPU was already listed")
