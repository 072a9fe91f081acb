# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``nvidia-smi nvlink -gt d``: what each NVLink has carried since the driver was loaded.

The numbers are in KiB (``Link 0: Data Tx: 5767281335 KiB``), whose B is a byte of 8 bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines

_TOOL = "nvlink_throughput"
NOTHING: dict[str, Any] = {"gpus": []}
_GPU = re.compile(r"GPU ([0-9]{1,4}): ")
_LINK = re.compile(r"Link ([0-9]{1,3}): Data (Tx|Rx): ([0-9]{1,20}) ([KMGT]iB)")
# Said of a GPU, or of one link, that has no such counter.
_NONE = re.compile(r"(?:Link [0-9]{1,3}: )?.*(?:N/A|[Nn]ot [Ss]upported|[Ii]nactive|inActive)")
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@dataclass(frozen=True)
class Carried:
    """``direction``: ``tx`` or ``rx``, as seen by the GPU."""

    gpu: int
    link: int
    direction: str
    bytes: int


def parse(text: str) -> tuple[Carried, ...]:
    """Every counter once; raise ParseError on a line that is none, and where there is no GPU."""
    found: dict[tuple[int, int, str], Carried] = {}
    gpu: int | None = None
    for line_no, line in enumerate(flat_lines(text), 1):
        if not line:
            continue
        header, counter = _GPU.match(line), _LINK.fullmatch(line)
        if header is not None:
            gpu = int(header.group(1))
        elif counter is not None and gpu is not None:
            number, way, amount, unit = counter.groups()
            entry = Carried(gpu, int(number), way.lower(), int(amount) * _UNITS[unit])
            if found.setdefault((gpu, entry.link, entry.direction), entry) != entry:
                raise ParseError(_TOOL, line_no, line, "contradicts an earlier line of this link")
        elif gpu is None or _NONE.match(line) is None:
            raise ParseError(_TOOL, line_no, line, "neither a GPU nor a counter")
    if gpu is None:
        raise ParseError(_TOOL, 0, "", "no GPU")
    return tuple(found.values())


def facts(parsed: tuple[Carried, ...]) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    gpus: dict[int, dict[int, dict[str, int]]] = {}
    for entry in parsed:
        links = gpus.setdefault(entry.gpu, {})
        links.setdefault(entry.link, {})[f"{entry.direction}_bytes"] = entry.bytes
    return {
        "gpus": [
            {"index": gpu, "links": [{"id": link, **counters} for link, counters in links.items()]}
            for gpu, links in gpus.items()
        ]
    }
