# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi topo -m`` prints: how GPUs and NICs are joined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .._ground.text import ParseError, flat_lines
from . import _nvlink

_TOOL = "topo"
NOTHING: dict[str, Any] = {
    "columns": [],
    "matrix": {},
    "gpu_pair_counts": {},
    "affinity": {},
    "ansi": False,
}
SYS = "SYS"
# More GPUs and NICs than any host has.
_MOST = 256

_DEVICE = re.compile(r"(?:GPU|NIC)[0-9]{1,4}|(?:mlx[45]|rocep|ibp|bnxt_re|efa|rdmap|irdma)\w{0,40}")
_GPU = re.compile(r"GPU([0-9]{1,4})")
# X, NV18, PIX, PXB, PHB, NODE, SYS, and SOC of old drivers; N/A and numbers are affinities.
_RELATION = re.compile(r"[A-Z][A-Z0-9]{0,7}")
_NVLINKS = re.compile(r"NV([0-9]{1,3})")
_NIC = re.compile(r"(NIC[0-9]{1,4}): (\S{1,64})")
_NODE = re.compile(r"[0-9]{1,4}")
_ESCAPE = re.compile(r"\x1b\[")


@dataclass(frozen=True)
class Topo:
    """``matrix``: a row may be shorter than the columns, or missing, where the text was cut.

    ``legend``: the meanings are listed below; with ``legend_nvlink`` NVLinks are among them.
    ``error``: what nvidia-smi said instead of a matrix.
    """

    columns: tuple[str, ...] = ()
    matrix: dict[str, tuple[str, ...]] = field(default_factory=dict)
    affinity: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nics: dict[str, str] = field(default_factory=dict)
    legend: bool = False
    legend_nvlink: bool = False
    numa_column: bool = False
    ansi: bool = field(default=False, compare=False)
    error: str = ""

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if _GPU.fullmatch(name))

    def relation(self, text: str, other: str) -> str | None:
        """How two devices are joined; None where neither row shows it, or each another way."""
        found: set[str] = set()
        for row, column in ((text, other), (other, text)):
            cells = self.matrix.get(row, ())
            at = self.columns.index(column) if column in self.columns else len(cells)
            found.update(cells[at : at + 1])
        return found.pop() if len(found) == 1 else None

    def pairs(self) -> dict[tuple[str, str], str | None]:
        """Every pair of GPUs with its relation."""
        gpus = self.gpus
        return {(gpu, other): self.relation(gpu, other) for at, gpu in enumerate(gpus) for other in gpus[at + 1 :]}

    def numa(self, gpu: str) -> int | None:
        """The NUMA node of a GPU where the matrix gives exactly one."""
        cells = self.affinity.get(gpu, ())
        if not self.numa_column or len(cells) < 2 or not _NODE.fullmatch(cells[1]):
            return None
        return int(cells[1])


def nvlinks(relation: str | None) -> int:
    """How many NVLinks a relation stands for: 18 of NV18, 0 of anything else."""
    match = _NVLINKS.fullmatch(relation or "")
    return int(match.group(1)) if match else 0


def index(gpu: str) -> int:
    """3 of ``GPU3``."""
    return int(gpu[3:])


def parse(text: str) -> Topo:
    """Read the matrix; raise ParseError where there is neither one nor a reason for it."""
    lines = flat_lines(text)
    reader = _Reader()
    for line_no, line in enumerate(lines, 1):
        reader.take(line_no, line)
    columns = tuple(reader.columns or reader.diagonal())
    if not reader.rows or not columns:
        said = _nvlink.refusals(lines)
        if said:
            return Topo(error=said[0].partition(". ")[0].rstrip("."))
        raise _nvlink.nothing(_TOOL, lines, "no matrix from here to the end")
    matrix, affinity = {}, {}
    for name, words in reader.rows.items():
        cells, affinity[name] = _split(words, len(columns))
        own = columns.index(name) if name in columns else len(cells)
        if own < len(cells) and cells[own] != "X":
            raise ParseError(_TOOL, 0, name, f"the row of {name} does not fit the columns")
        matrix[name] = cells
    return Topo(
        columns=columns,
        matrix=matrix,
        affinity={name: words for name, words in affinity.items() if words},
        nics=reader.nics,
        legend=reader.legend,
        legend_nvlink=reader.legend_nvlink,
        numa_column=reader.numa_column,
        ansi=_ESCAPE.search(text) is not None,
    )


def _split(words: list[str], columns: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Relations, and the affinities behind them."""
    cells = 0
    while cells < min(columns, len(words)) and _RELATION.fullmatch(words[cells]):
        cells += 1
    return tuple(words[:cells]), tuple(words[cells:])


class _Reader:
    def __init__(self) -> None:
        self.columns: list[str] = []
        self.rows: dict[str, list[str]] = {}
        self.nics: dict[str, str] = {}
        self.legend = False
        self.legend_nvlink = False
        self.numa_column = False

    def take(self, line_no: int, line: str) -> None:
        words = line.split(" ")
        nic = _NIC.fullmatch(line)
        if nic is not None:
            self.nics[nic.group(1)] = nic.group(2)
        elif " = " in line:
            self.legend = self.legend or words[0] == "X"
            self.legend_nvlink = self.legend_nvlink or words[0].startswith("NV#")
        elif self._is_header(line, words):
            self._header(line_no, line, words)
        elif len(words) > 1 and self._is_device(words[0]):
            self._row(line_no, line, words)

    def _row(self, line_no: int, line: str, words: list[str]) -> None:
        if self.rows.setdefault(words[0], words[1:]) != words[1:]:
            raise ParseError(_TOOL, line_no, line, "contradicts an earlier row")

    def _is_device(self, word: str) -> bool:
        return word in self.columns or _DEVICE.fullmatch(word) is not None

    def _is_header(self, line: str, words: list[str]) -> bool:
        if "CPU Affinity" in line:
            return True
        return len(words) > 1 and all(self._is_device(word) for word in words)

    def _header(self, line_no: int, line: str, words: list[str]) -> None:
        end = words.index("CPU") if "CPU" in words else len(words)
        columns = words[:end]
        if self.columns and self.columns != columns:
            raise ParseError(_TOOL, line_no, line, "a second matrix")
        if not 0 < len(columns) <= _MOST or len(set(columns)) != len(columns):
            raise ParseError(_TOOL, line_no, line, "not the names of a host's devices")
        self.columns = columns
        self.numa_column = "NUMA Affinity" in line

    def diagonal(self) -> list[str]:
        """The columns of a matrix without its first line: the rows, where each X agrees."""
        for at, words in enumerate(self.rows.values()):
            if at >= len(words) or words[at] != "X":
                return []
        return list(self.rows)


def facts(parsed: Topo) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    if parsed.error:
        return {"error": parsed.error}
    counts: dict[str, int] = {}
    for relation in parsed.pairs().values():
        if relation is not None:
            counts[relation] = counts.get(relation, 0) + 1
    found: dict[str, Any] = {
        "columns": list(parsed.columns),
        "matrix": {name: list(cells) for name, cells in parsed.matrix.items()},
        "gpu_pair_counts": counts,
        "affinity": {name: list(words) for name, words in parsed.affinity.items()},
        "ansi": parsed.ansi,
    }
    if parsed.nics:
        found["nic_legend"] = dict(parsed.nics)
    return found
