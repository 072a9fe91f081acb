# SPDX-License-Identifier: GPL-3.0-or-later
"""What the three forms of ``nvidia-smi nvlink`` share: GPU lines, remarks, marks of a cut text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import (
    ParseError,
    clean_lines,
)

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


def squeezed(tool: str, text: str, empty: str) -> list[str]:
    """The lines with single blanks between words; ParseError (saying ``empty``) without any."""
    lines = [" ".join(line.split()) for line in clean_lines(text)]
    if not any(lines):
        raise ParseError(tool, 0, "", f"empty output: {empty}")
    return lines


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


def nothing(tool: str, lines: list[str], reason: str) -> ParseError:
    """The error for a text without facts: it names the refusal, else the first line."""
    said = refusals(lines)
    wanted = said[0] if said else next(line for line in lines if line)
    line_no = lines.index(wanted) + 1
    return ParseError(tool, line_no, wanted, "nvidia-smi gave up" if said else reason, said)
