# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``perfquery`` prints: port counters, extended port counters, error details."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Union

from .._ground.text import complaints, ends_early, flat_lines, no_facts

_TOOL = "perfquery"
NOTHING: dict[str, Any] = {"blocks": []}

Value = Union[int, str]  # a counter, or a mask as it was printed

# Counters that rise on errors only, in the names of this and of the older infiniband-diags.
ERRORS = (
    "SymbolErrorCounter",
    "LinkErrorRecoveryCounter",
    "LinkDownedCounter",
    "PortRcvErrors",
    "PortRcvRemotePhysicalErrors",
    "PortXmitDiscards",
    "PortXmitConstraintErrors",
    "PortRcvConstraintErrors",
    "LocalLinkIntegrityErrors",
    "ExcessiveBufferOverrunErrors",
    "VL15Dropped",
    "QP1Dropped",
    "SymbolErrors",
    "LinkRecovers",
    "LinkDowned",
    "RcvErrors",
    "RcvRemotePhysErrors",
    "XmtDiscards",
    "XmtConstraintErrors",
    "RcvConstraintErrors",
    "LinkIntegrityErrors",
    "ExcBufOverrunErrors",
)
_PORT_KINDS = ("Port", "Port extended")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# Without the head that names the port, only these tell that the numbers are perfquery's.
_OWN = re.compile(r"(?:Port|Counter|Symbol|Link(?:Error|Down|Recover|Integrity)|Local|Exc|VL15|QP1|Xmi?t|Rcv)\w{0,60}")
# What a block ends with. A release that counts errors in 64 bits as well has QP1Dropped behind it.
_LAST = ("PortXmitWait", "XmtWait", "PortMulticastRcvPkts", "RcvMcastPkts", "QP1Dropped")
_NUMBER = re.compile(r"[0-9]{1,20}")
_MASK = re.compile(r"0x[0-9a-fA-F]{1,16}")


@dataclass(frozen=True)
class Block:
    """The counters of one port. ``kind``: ``Port``, ``Port extended`` or the name of the details.

    ``target`` and ``port`` are "" where the header line was missing.
    """

    kind: str
    target: str
    port: str
    counters: tuple[tuple[str, Value], ...]

    @property
    def is_port(self) -> bool:
        """Whether these are the port's counters, and not the details of one kind of error."""
        return self.kind in _PORT_KINDS

    @property
    def extended(self) -> bool:
        """Whether the counters have 64 bits, so that they do not saturate."""
        return self.kind == "Port extended"

    def numbers(self) -> dict[str, int]:
        """The counters without the masks."""
        return {name: value for name, value in self.counters if isinstance(value, int)}


@dataclass(frozen=True)
class Perfquery:
    """Every block, and what the tool complained of. ``cut``: the text ends before its end."""

    blocks: tuple[Block, ...]
    error_lines: tuple[str, ...] = ()
    cut: bool = field(default=False, compare=False)


class _Open:
    def __init__(self, kind: str, target: str, port: str, *, headed: bool = True) -> None:
        self.headed = headed
        self.kind = kind
        self.target = target
        self.port = port
        self.values: dict[str, Value] = {}


def parse(text: str) -> Perfquery:
    """Read the output; raise ParseError where it gives neither a counter nor an error."""
    lines = flat_lines(text)
    blocks: list[_Open] = []
    last = len(lines) if ends_early(text) else 0
    for line_no, line in enumerate(lines, 1):
        header = _header(line)
        if header is not None:
            blocks.append(header)
            continue
        counter = _counter(line)
        if counter is None or line_no == last:
            continue  # a number that the text ends within may go on
        if not blocks:
            blocks.append(_Open("Port", "", "", headed=False))
        name, value = counter
        if blocks[-1].values.get(name, value) != value:
            # Another port's, whose own line is missing.
            blocks.append(_Open(blocks[-1].kind, "", "", headed=False))
        blocks[-1].values[name] = value
    found = tuple(
        Block(block.kind, block.target, block.port or _selected(block.values), tuple(block.values.items()))
        for block in blocks
        if block.values and (block.headed or any(map(_OWN.fullmatch, block.values)))
    )
    errors = complaints(lines, warnings=not found)
    if not found and not errors:
        reason = "no counter and no error from here to the end"
        raise no_facts(_TOOL, lines, reason, "empty output: the port did not answer")
    cut = bool(last) and not _is_whole(lines[-1], blocks)
    return Perfquery(found, errors, cut or (not errors and not _is_told(blocks)))


def facts(parsed: Perfquery) -> dict[str, Any]:
    """The same as a JSON-ready dictionary."""
    blocks = [_shown(block) for block in parsed.blocks if block.is_port]
    for block in blocks:
        errors = {k: v for k, v in block["counters"].items() if k in ERRORS and v not in (0, "0")}
        block["nonzero_errors"] = errors
    result: dict[str, Any] = {"blocks": blocks}
    details = [block for block in parsed.blocks if not block.is_port]
    if details:
        result.update(kind=details[0].kind, **_shown(details[0]))
    if parsed.cut:
        result["cut"] = True
    if parsed.error_lines:
        result["error_lines"] = list(parsed.error_lines)
        if not parsed.blocks:
            result.update(error=True, n=0)
    return result


def _shown(block: Block) -> dict[str, Any]:
    return {"target": block.target, "port": block.port, "counters": dict(block.counters)}


def _header(line: str) -> _Open | None:
    """``# Port counters: Lid 6 port 1 (CapMask: 0x1400)``, and the like for other kinds."""
    if not line.startswith("#"):
        return None
    kind, colon, rest = line.lstrip("# ").partition(" counters:")
    if not colon:
        return None
    target, between, port = rest.rpartition(" port ")
    words = port.split()
    if not between or not words or not words[0].isdigit():
        return _Open(kind.strip(), rest.partition("(")[0].strip(), "")
    return _Open(kind.strip(), target.strip(), words[0])


def _counter(line: str) -> tuple[str, Value] | None:
    """``LinkDownedCounter:...............1``; None for a line that is none, or was cut."""
    name, colon, rest = line.partition(":")
    value = rest.strip(". \t")
    if not colon or _NAME.fullmatch(name) is None:
        return None
    if _NUMBER.fullmatch(value):
        return name, int(value)
    return (name, value) if _MASK.fullmatch(value) else None


def _is_whole(line: str, blocks: list[_Open]) -> bool:
    """Whether the last line of a text without its last newline cannot go on, or is the last of its block."""
    if complaints([line], warnings=True):
        return True
    name, value = _counter(line) or ("", "")
    if name == "QP1Dropped" and blocks and blocks[-1].kind == "Port":
        return value == 0
    return (value == 0 and not name.startswith("CounterSelect")) or (value != "" and name in _LAST)


def _is_told(blocks: list[_Open]) -> bool:
    """Whether the last block has counters, and every block of errors an error counter."""
    told = [block for block in blocks if block.headed]
    errors = all(any(name in ERRORS for name in block.values) for block in told if block.kind == "Port")
    return not told or (bool(told[-1].values) and errors)


def _selected(values: dict[str, Value]) -> str:
    return str(values.get("PortSelect", ""))
