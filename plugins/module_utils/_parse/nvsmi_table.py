# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the table that ``nvidia-smi`` without a word prints: what people paste first."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .._ground.text import ParseError, clean_lines, ends_early, flat_lines
from . import _nvsmi
from ._nvsmi import Gpu, Nvsmi

_TOOL = "nvsmi_table"
NOTHING: dict[str, Any] = {"driver": None, "cuda": None, "gpus": [], "processes": None}

_HEAD = re.compile(
    r"\| NVIDIA-SMI (\S{1,20}) .{0,20}Driver Version: (\S{1,20})(?: CUDA Version: (\S{1,20}))? .{0,40}\|"
)
# GPU, name, persistence | bus id, display | volatile uncorrected ECC errors
_FIRST = re.compile(
    r"\| ?(\d{1,3}) (.{1,60}?) (On|Off|N/A|ERR!) ?\|"
    r" ?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]) \S{1,8} ?\|"
    r" ?(.{1,20}?) ?\|"
)
# fan, temperature, state, power | memory | use, compute mode
_SECOND = re.compile(
    r"\| ?(\S{1,6}) {0,1}(\S{1,6}) (\S{1,5}) (\S{1,10}) ?/ ?(\S{1,10}) ?\| ?(\S{1,12}) ?/ ?(\S{1,12}) ?\|"
    r" ?(\S{1,6}) (.{1,20}?) ?\|"
)
_MIG = re.compile(r"\| ?\| ?\| ?(Disabled|Enabled\*?|N/A|ERR!) ?\|")
_PROCESS = re.compile(r"\| ?(\d{1,3}) (?:(?:N/A|\d{1,3}) (?:N/A|\d{1,3}) )?(\d{1,10}) (?:C\+G|M\+C|C|G|M) .{1,200}\|")
_ROWS = (_HEAD, _FIRST, _SECOND, _MIG, _PROCESS)
_PROCESSES, _NONE = "Processes:", "No running processes found"
_LOST = "GPU is lost"
_SHOWN = {"On": "Enabled", "Off": "Disabled"}
_UNITS = re.compile(r"(\d{1,9})(MiB|W|C|%)")


@dataclass(frozen=True)
class Table(Nvsmi):
    """``cut``: no GPU, the first line of a GPU alone, or a line that the text ends within."""

    cut: bool = field(default=False, compare=False)


def parse(text: str) -> Table:
    """Read a table; raise ParseError where no head or no row of a GPU is in it."""
    lines = flat_lines(text)
    driver = cuda = ""
    gpus: list[dict[str, str]] = []
    programs: dict[int, int] | None = None
    for line_no, line in enumerate(lines, 1):
        head, first = _HEAD.fullmatch(line), _FIRST.fullmatch(line)
        if head is not None:
            if driver:
                raise ParseError(_TOOL, line_no, line, "a second table begins here")
            driver, cuda = head.group(2), head.group(3) or ""
        elif first is not None and programs is None:
            gpus.append(_of_first(first))
        elif _PROCESSES in line:
            programs = {}
        elif programs is not None:
            process = _PROCESS.fullmatch(line)
            if process is not None:
                programs[int(process.group(1))] = programs.get(int(process.group(1)), 0) + 1
        elif gpus:
            _of_rest(line, gpus[-1])
    if not gpus and not driver:
        raise _nvsmi.no_facts(_TOOL, lines, "neither the head of the table nor a GPU")
    cut = not gpus or _FIRST.fullmatch(lines[-1]) is not None or (ends_early(text) and _is_part(text, lines[-1]))
    ended = programs is not None and not cut and (programs != {} or any(_NONE in line for line in lines))
    return Table(driver, cuda, None, tuple(_gpu(entry, programs if ended else None) for entry in gpus), cut=cut)


def _is_part(text: str, last: str) -> bool:
    """Whether the last line is a part of a line of the table, and no whole line."""
    if not last.startswith(("|", "+")) or any(kind.fullmatch(last) for kind in _ROWS):
        return False
    rows = [line.strip() for line in clean_lines(text) if line.strip().startswith(("|", "+"))]
    return len(rows[-1]) < max(map(len, rows))


def _of_first(found: re.Match[str]) -> dict[str, str]:
    number, name, persistence, bus_id, ecc = found.groups()
    texts = {"number": number, "bus_id": bus_id, "name": name, "persistence": _SHOWN.get(persistence, persistence)}
    if _nvsmi.no_answer(ecc) or _nvsmi.no_answer(persistence):
        texts["said"] = ecc
    # Off where ECC is; the table does not tell SRAM from DRAM.
    texts["ecc_errors"] = ecc
    return texts


def _of_rest(line: str, texts: dict[str, str]) -> None:
    second, mig = _SECOND.fullmatch(line), _MIG.fullmatch(line)
    if second is not None and "temp" not in texts:
        _fan, temp, state, draw, limit, used, total, _use, mode = second.groups()
        values = {"temp": temp, "performance": state, "power_limit": limit, "memory_used": used, "memory_total": total}
        texts.update({name: _UNITS.sub(r"\1 \2", value) for name, value in values.items()})
        texts["compute_mode"] = {"E. Process": "Exclusive_Process"}.get(mode, mode)
        if _nvsmi.no_answer(draw) or _nvsmi.no_answer(used):
            texts.setdefault("said", draw)
    elif mig is not None:
        texts["mig"] = mig.group(1).rstrip("*")
    elif _LOST in line:
        texts["said"] = _LOST


def _gpu(texts: dict[str, str], programs: dict[int, int] | None) -> Gpu:
    number = int(texts.pop("number"))
    errors = texts.pop("ecc_errors")
    if programs is not None:
        texts["programs"] = str(programs.get(number, 0))
    if errors.isdecimal():
        texts.update(volatile_dram=errors, volatile_sram=_nvsmi.NOT_THERE)
    said = texts.pop("said", "")
    sick = {"table": said} if said else {}
    return _nvsmi.gpu(texts, None, None, None, whole=False, sick=sick)


def facts(parsed: Table) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    told = [gpu.programs for gpu in parsed.gpus]
    return {
        "driver": parsed.driver or None,
        "cuda": parsed.cuda or None,
        "gpus": [
            {
                "bus_id": gpu.bus_id,
                "name": gpu.name,
                "persistence": gpu.persistence,
                "ecc_errors": gpu.volatile_dram or None,
                "temp": gpu.temp,
                "performance": gpu.performance,
                "memory_used": gpu.memory_used,
                "memory_total_mib": gpu.memory_total_mib,
                "compute_mode": gpu.compute_mode,
                "mig": gpu.mig or None,
                "trouble": gpu.trouble or None,
            }
            for gpu in parsed.gpus
        ],
        "processes": sum(int(each) for each in told) if told and all(told) else None,
        **({"cut": True} if parsed.cut else {}),
    }
