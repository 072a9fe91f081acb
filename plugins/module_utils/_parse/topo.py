# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi topo -m`` prints: how GPUs and NICs are joined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterator, NamedTuple

from .._ground.text import ParseError, ends_early, flat_lines
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
# A device to itself.
SELF = "X"
# More GPUs and NICs than any host has.
_MOST = 256

# The name of a column that was lost.
LOST = ""
_DEVICE = re.compile(r"(?:GPU|NIC)[0-9]{1,4}|(?:mlx[45]|rocep|ibp|bnxt_re|efa|rdmap|irdma)\w{0,40}")
_GPU = re.compile(r"GPU([0-9]{1,4})")
# X, NV18, PIX, PXB, PHB, NODE, SYS, and SOC of old drivers; N/A and numbers are affinities.
_RELATION = re.compile(r"[A-Z][A-Z0-9]{0,7}")
_KNOWN = ("SYS", "NODE", "PHB", "PXB", "PIX", "SOC")
# Processors and NUMA nodes, which stand behind the relations.
_AFFINITY = re.compile(r"[0-9][0-9,-]{0,1000}|N/A")
# What `topo -p2p` puts there: whether two GPUs reach each other, and not by which way.
_REACH = frozenset(("OK", "CNS", "GNS", "TNS", "NS", "DR", "U"))
_AFFINITIES = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
_GLUED = re.compile(r"(?:GPU|NIC)[0-9]{1,4}")
_NVLINKS = re.compile(r"NV([0-9]{1,3})")
_NIC = re.compile(r"(NIC[0-9]{1,4}): (\S{1,64})")
_NODE = re.compile(r"[0-9]{1,4}")
# Of the matrix of peer access, whose words are no relations.
_PEERS = ("CNS = ", "GNS = ", "TNS = ")
_ESCAPE = re.compile(r"\x1b\[")


@dataclass(frozen=True)
class Topo:
    """``matrix``: a row may be shorter than the columns, or missing, where the text was cut. A column
    is LOST where the first line does not name it, and no row does.

    ``legend``: the meanings are listed below; with ``legend_nvlink`` NVLinks are among them.
    ``error``: what nvidia-smi said instead of a matrix. ``cut``: which part of the matrix is missing or
    cannot be trusted, "" where none is.
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
    cut: str = ""

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
    peers = next((number for number, line in enumerate(lines, 1) if line.startswith(_PEERS)), 0)
    if peers:
        raise ParseError(_TOOL, peers, lines[peers - 1], "the legend of `topo -p2p`, a matrix of peer access")
    reader = _Reader(len(lines) if ends_early(text) else 0)
    for line_no, line in enumerate(lines, 1):
        reader.take(line_no, line)
    columns = reader.named()
    if not reader.rows or not any(columns):
        said = _nvlink.refusals(lines)
        if said:
            return Topo(error=said[0].partition(". ")[0].rstrip("."))
        raise _nvlink.nothing(_TOOL, lines, "no matrix from here to the end")
    matrix, affinity = {}, {}
    cut = reader.cut
    most = max((len(row.affinity) for row in reader.rows.values() if row.fills(columns)), default=0)
    for at, (name, row) in enumerate(reader.rows.items(), 1):
        cells = _trusted(name, row, columns, last=at == len(reader.rows))
        if most and not row.affinity and _GPU.fullmatch(name) and cells[-1:] != (SELF,):
            cells = cells[:-1]  # cut, within it or behind it
        if len(cells) < len(columns):
            cut = cut or f"the matrix is cut: the row of {name} is not whole, or does not fit the columns"
        if cells:
            matrix[name] = cells
        if row.affinity and len(row.affinity) == most and row.fills(columns):
            affinity[name] = row.affinity
        elif row.affinity:
            cut = cut or f"the matrix is cut: the affinities of {name} are not whole"
    told = {cell for cells in matrix.values() for cell in cells} - {SELF}
    if told and told <= _REACH:
        raise ParseError(_TOOL, 0, "", "a matrix of who reaches whom (topo -p2p), and not of the ways (topo -m)")
    missing = [name for name in columns if name != LOST and name not in matrix]
    if missing and not cut:
        cut = f"the matrix is cut: the row of {missing[0]} is not in the bundle"
    return Topo(
        columns=columns,
        matrix=matrix,
        affinity=affinity,
        nics=reader.nics,
        legend=reader.legend,
        legend_nvlink=reader.legend_nvlink,
        numa_column=reader.numa_column,
        ansi=_ESCAPE.search(text) is not None,
        cut=cut,
    )


class _Row(NamedTuple):
    """Relations, and the affinities behind them. ``sound``: nothing else stands among either. ``ends_early``: the
    text ends within it."""

    cells: tuple[str, ...]
    affinity: tuple[str, ...]
    sound: bool
    ends_early: bool

    @property
    def own(self) -> int:
        """Where it tells of itself; -1 where it does not, or twice."""
        return self.cells.index(SELF) if self.cells.count(SELF) == 1 else -1

    def fills(self, columns: tuple[str, ...]) -> bool:
        """Whether what stands behind its relations are the affinities."""
        return self.sound and len(self.cells) == len(columns)


def _row(words: list[str], *, ends_early: bool) -> _Row:
    """Relations never follow what is none: words behind a damaged one are of no column that is known."""
    if ends_early and words and words[-1] != SELF:
        words = words[:-1]  # 1 of 18 links, or of a number
    cells = 0
    while cells < len(words) and _is_relation(words[cells]):
        cells += 1
    rest = words[cells:]
    sound = all(map(_AFFINITY.fullmatch, rest))
    return _Row(tuple(words[:cells]), tuple(rest), sound, ends_early)


def _is_relation(word: str) -> bool:
    """Whether it is a whole word of the legend, or of another driver's."""
    if word in _KNOWN:
        return True
    part = any(known.startswith(word) for known in (*_KNOWN, "NV"))
    return _RELATION.fullmatch(word) is not None and not part and not _DEVICE.fullmatch(word)


def _trusted(name: str, row: _Row, columns: tuple[str, ...], *, last: bool) -> tuple[str, ...]:
    """The relations of a row whose columns are sure: with one of them lost, those behind it are another's."""
    if name not in columns or len(row.cells) > len(columns):
        return ()
    at = columns.index(name)
    if len(row.cells) == len(columns):
        return row.cells if row.own == at else ()
    if not row.sound:
        kept = row.cells  # the damaged word stands in its own column
    elif last and not row.affinity:
        # Within the last cell, or behind it.
        kept = row.cells if row.ends_early or row.cells[-1:] == (SELF,) else row.cells[:-1]
    else:
        kept = row.cells[: at + 1] if row.own == at else ()  # a cell behind that may be lost
    return kept if row.own == at or (row.own < 0 and SELF not in kept and len(kept) <= at) else ()


class _Reader:
    """``last``: the number of the line that the text ends within, 0 for none."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.columns: list[str] = []
        self.rows: dict[str, _Row] = {}
        self.nics: dict[str, str] = {}
        self.legend = False
        self.legend_nvlink = False
        self.numa_column = False
        self.cut = f"the matrix is cut: the text ends within line {last}" if last else ""

    def take(self, line_no: int, line: str) -> None:
        words = line.split(" ")
        nic = _NIC.fullmatch(line)
        if nic is not None:
            if line_no != self.last:
                self.nics[nic.group(1)] = nic.group(2)
        elif " = " in line:
            self.legend = self.legend or words[0] == SELF
            self.legend_nvlink = self.legend_nvlink or words[0].startswith("NV#")
        elif self._is_header(line, words):
            self._header(line_no, line)
        elif len(words) > 1 and self._is_device(words[0]) and _is_relation(words[1]):
            self._row(line_no, line, words)

    def _row(self, line_no: int, line: str, words: list[str]) -> None:
        row = _row(words[1:], ends_early=line_no == self.last)
        if self.rows.setdefault(words[0], row) != row:
            raise ParseError(_TOOL, line_no, line, "contradicts an earlier row")

    def _is_device(self, word: str) -> bool:
        return word in self.columns or _DEVICE.fullmatch(word) is not None

    def _is_header(self, line: str, words: list[str]) -> bool:
        if any(name in line for name in _AFFINITIES):
            return True
        return len(words) > 1 and all(self._is_device(word) for word in words)

    def _header(self, line_no: int, line: str) -> None:
        """A person's copy may have lost the blanks between two names, or a part of the line."""
        end = min((line.index(name) for name in _AFFINITIES if name in line), default=len(line))
        columns = [name for word in line[:end].split() for name in _names(word)]
        if self.columns and self.columns != columns:
            raise ParseError(_TOOL, line_no, line, "a second matrix")
        if not 0 < len(columns) <= _MOST or len(set(columns)) != len(columns):
            raise ParseError(_TOOL, line_no, line, "not the names of a host's devices")
        self.columns = columns
        self.numa_column = "NUMA Affinity" in line

    def named(self) -> tuple[str, ...]:
        """The columns: as the first line has them, where the rows agree, else as the rows tell by
        the place of each in itself."""
        width = max((len(row.cells) for row in self.rows.values()), default=0)
        places = [(row.own, name) for name, row in self.rows.items() if row.own >= 0]
        fitting = sum(self.columns[at : at + 1] == [name] for at, name in places)
        if self.columns and width <= len(self.columns) and 2 * fitting >= len(places):
            return tuple(self.columns)
        own = dict(places)
        # A row that lost a cell tells a wrong place, which stands out by the order of the rows.
        if not own or len(own) < len(places) or sorted(own) != list(own) or width > _MOST:
            return ()
        self.cut = self.cut or "the matrix is cut: its first line is missing, or does not fit the rows"
        return tuple(own.get(at, LOST) for at in range(width))


def _names(word: str) -> Iterator[str]:
    """The names of devices that a word is made of."""
    glued = _GLUED.findall(word)
    yield from glued if "".join(glued) == word else [word]


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
        "cut": bool(parsed.cut),
    }
    if parsed.nics:
        found["nic_legend"] = dict(parsed.nics)
    return found
