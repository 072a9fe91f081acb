# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse /var/log/fabricmanager.log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .._ground.text import ParseError, clean_lines, no_facts

_TOOL = "fabricmanager_log"
NOTHING: dict[str, Any] = {"lines": 0, "error_lines": 0, "sxid": [], "nvswitch_pci": []}

# The rest of a record may follow on lines of its own.
_RECORD = re.compile(r"\[([^\[\]]{1,40})\] \[([A-Z]{1,10})\] (?:\[tid [0-9]{1,12}\] )?(.*)")
_ERRORS = ("ERROR", "CRITICAL", "FATAL")
_SXID = re.compile(r"NVSwitch (fatal|non-fatal) error ([0-9]{1,6})\b", re.IGNORECASE)
_PCI = re.compile(r"pci bus id ([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])", re.IGNORECASE)
_PORT = re.compile(r"\bport ([0-9]{1,4})\b")
# The daemon of a rack's memory writes its log in the same form.
_IMEX = re.compile(r"\bIMEX (?:Log initializing|version|library)", re.IGNORECASE)
_START = re.compile(r"Fabric Manager version ([0-9]{1,5}(?:\.[0-9]{1,5}){1,3}) is running", re.IGNORECASE)
_MODE = re.compile(r"\bFABRIC_MODE\b[^0-9]{1,40}(?:0x)?([0-9])\b")


@dataclass(frozen=True)
class FmError:
    """An error record. ``sxid``: the NVSwitch's error number as text, "" where it is none."""

    when: str
    text: str
    sxid: str = ""
    fatal: bool = False
    pci: str = ""
    port: int | None = None


@dataclass(frozen=True)
class FmLog:
    """``version``: of the last start in the log; ``mode``: the FABRIC_MODE that it was given last, "" where it does not
    say; ``errors`` of that start, ``earlier`` before."""

    lines: int = field(default=0, compare=False)
    records: int = 0
    version: str = ""
    mode: str = ""
    errors: tuple[FmError, ...] = ()
    earlier: tuple[FmError, ...] = ()


def parse(text: str) -> FmLog:
    """Read the log; raise ParseError where it holds not one record."""
    lines = clean_lines(text)
    records = 0
    version, mode = "", ""
    errors: list[FmError] = []
    earlier: list[FmError] = []
    for line in lines:
        record = _RECORD.fullmatch(" ".join(line.split()))
        if record is None:
            continue
        records += 1
        start = _START.search(record.group(3))
        if start is not None:
            version = start.group(1)
            earlier += errors
            errors = []
        given = _MODE.search(record.group(3))
        mode = given.group(1) if given is not None else mode
        if record.group(2) in _ERRORS:
            errors.append(_error(record.group(1), record.group(3)))
    imex = next((at for at, line in enumerate(lines, 1) if _IMEX.search(line)), 0)
    if imex and not version:
        raise ParseError(_TOOL, imex, lines[imex - 1].strip(), "the log of nvidia-imex, and not of the fabric manager")
    if not records:
        raise no_facts(_TOOL, lines, "not one record of the fabric manager", "empty log")
    return FmLog(_count(text), records, version, mode, tuple(errors), tuple(earlier))


def _count(text: str) -> int:
    """As ``wc -l`` counts, and one more for a last line without its end."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.count("\n") + (not text.endswith("\n"))


def _error(when: str, text: str) -> FmError:
    sxid, pci, port = _SXID.search(text), _PCI.search(text), _PORT.search(text)
    return FmError(
        when,
        text,
        sxid.group(2) if sxid else "",
        sxid is not None and sxid.group(1).lower() == "fatal",
        pci.group(1).lower() if pci else "",
        int(port.group(1)) if port else None,
    )


def facts(parsed: FmLog) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    every = parsed.earlier + parsed.errors
    found: dict[str, Any] = {
        "lines": parsed.lines,
        "error_lines": len(every),
        "sxid": sorted({error.sxid for error in every if error.sxid}),
        "nvswitch_pci": sorted({error.pci for error in every if error.pci}),
    }
    if parsed.version:
        found["version"] = parsed.version
    return found
