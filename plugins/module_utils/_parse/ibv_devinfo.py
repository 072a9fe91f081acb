# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibv_devinfo`` prints, with or without ``-v``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, ends_early, flat_lines, no_facts, to_int
from ._block import Block

_TOOL = "ibv_devinfo"
NOTHING: dict[str, Any] = {"hcas": [], "n_hcas": 0}

_HCA_TEXT = ("transport", "fw_ver", "node_guid", "sys_image_guid", "vendor_id", "board_id")
_HCA_NUMBER = ("vendor_part_id", "phys_port_cnt")
_PORT_TEXT = ("state", "max_mtu", "active_mtu", "link_layer")
_PORT_NUMBER = ("sm_lid", "port_lid")
# What the contract's dictionary holds; the rest is for the checks.
_HCA_SHOWN = (
    "transport",
    "fw_ver",
    "node_guid",
    "vendor_part_id",
    "board_id",
    "phys_port_cnt",
)
_PORT_SHOWN = ("state", "max_mtu", "active_mtu", "sm_lid", "port_lid", "link_layer")
_HEADER = ("hca_id", "ca_id")  # the first character of a copied text is easily lost
_PORT_LINE = re.compile(r"port: ?([0-9]{1,3})")
# A path MTU is shown as "4096 (5)"; an unknown one as "invalid MTU (0)".
_MTU = re.compile(r"([0-9]{3,5}) \([0-9]\)")
# Lines that cannot go on, by their key: what a text ends with that only lost its last newline.
_WHOLE = {
    "state": re.compile(r"PORT_[A-Z_]{1,20} \([0-9]\)"),
    "max_mtu": _MTU,
    "active_mtu": _MTU,
    "link_layer": re.compile(r"InfiniBand|IB|Ethernet|Unspecified|Unknown"),
}
# Of perftest is "Failed to modify QP 306 to RTR".
_ERRORS = ("No IB devices found", "Failed to get", "Failed to open", "Failed to query", "IB device ")
_WARNING = "libibverbs: Warning: "


@dataclass(frozen=True)
class VerbsPort:
    """One port; ``values`` holds the known lines by key, as they were printed."""

    num: int
    values: tuple[tuple[str, str], ...]

    def get(self, key: str) -> str:
        return dict(self.values).get(key, "")

    def number(self, key: str) -> int | None:
        """The number of `sm_lid` or `port_lid`; None where its line was missing."""
        return to_int(self.get(key)) if self.get(key) else None

    def mtu(self, key: str) -> int | None:
        """Bytes of `max_mtu` or `active_mtu`; None where it was not shown."""
        match = _MTU.fullmatch(self.get(key))
        return int(match.group(1)) if match else None


@dataclass(frozen=True)
class Verbs:
    """One device as libibverbs sees it."""

    name: str
    values: tuple[tuple[str, str], ...]
    ports: tuple[VerbsPort, ...]

    def get(self, key: str) -> str:
        return dict(self.values).get(key, "")


@dataclass(frozen=True)
class IbvDevinfo:
    """Every device that libibverbs knows, and what the tool said when it gave up.

    ``warnings``: what libibverbs says of devices that it does not take.
    ``unread``: how many lines belong to a device or port whose own line is missing, or have a number that
    is damaged, and the last line where the text ends within it.
    """

    hcas: tuple[Verbs, ...]
    error_lines: tuple[str, ...] = ()
    unread: int = 0
    warnings: tuple[str, ...] = ()


class _Hca(Block):
    def __init__(self, name: str) -> None:
        super().__init__(_TOOL, name)
        self.ports: dict[int, Block] = {}


class _Reader:
    """Sorts lines into devices and ports. A line whose device or port is not known is strange."""

    def __init__(self) -> None:
        self.hcas: dict[str, _Hca] = {}
        self.hca: _Hca | None = None
        self.port: Block | None = None
        self.errors: list[str] = []
        self.strange: list[ParseError] = []
        self.warnings: list[str] = []

    def take(self, line_no: int, line: str, *, ends_early: bool) -> None:
        key, _colon, value = line.partition(":")
        number = _PORT_LINE.fullmatch(line)
        if ends_early and _may_go_on(line):
            self._leave(line_no, line, "the text ends within this line")
        elif key in _HEADER and value.strip():
            self.hca, self.port = self._open(value.strip(), line_no, line), None
        elif number is not None:
            self._open_port(int(number.group(1)), line_no, line)
        elif line.startswith(_ERRORS):
            self.errors.append(line)
        elif line.startswith(_WARNING):
            self.warnings.append(line[len(_WARNING) :])
        else:
            self._put(line_no, line)

    def _open(self, name: str, line_no: int, line: str) -> _Hca:
        known = self.hcas.get(name)
        if known is None:
            known = self.hcas[name] = _Hca(name)
        elif known.values or known.ports:
            raise ParseError(_TOOL, line_no, line, "this device was already listed")
        return known

    def _open_port(self, num: int, line_no: int, line: str) -> None:
        if self.hca is not None and self.hca.ports.get(num, self.port) is not self.port:
            self.hca = None
        if self.hca is None:
            self._leave(line_no, line, "a port before its device")
            return
        known = self.hca.ports.get(num)
        if known is not None and known.values:
            self._leave(line_no, line, "this port was already listed")
            return
        self.port = self.hca.ports.setdefault(num, Block(_TOOL, str(num)))

    def _put(self, line_no: int, line: str) -> None:
        key, colon, value = line.partition(":")
        value = value.strip()
        if not colon or not value:
            return
        if key in _PORT_TEXT or key in _PORT_NUMBER:
            block: Block | None = self.port
        elif key in _HCA_TEXT or key in _HCA_NUMBER:
            # -v lists the port's own node data nowhere: such a line after a port is another device's.
            block = self.hca if self.port is None else None
        else:
            return
        if block is None or block.values.get(key, (0, value))[1] != value:
            self._leave(line_no, line, "belongs to nothing: a line before it is missing")
            return
        if key in _PORT_NUMBER or key in _HCA_NUMBER:
            try:
                to_int(value)
            except ValueError as exc:
                self.strange.append(ParseError(_TOOL, line_no, line, str(exc)))
                return
        block.put(key, line_no, line, value)

    def _leave(self, line_no: int, line: str, reason: str) -> None:
        """What comes next is of no device that is known."""
        self.hca = self.port = None
        self.strange.append(ParseError(_TOOL, line_no, line, reason))


def parse(text: str) -> IbvDevinfo:
    """Read the output; raise ParseError where it gives neither a device nor an error."""
    lines = flat_lines(text)
    reader = _Reader()
    last = len(lines) if ends_early(text) else 0
    for line_no, line in enumerate(lines, 1):
        reader.take(line_no, line, ends_early=line_no == last)
    if not any(block.values or block.ports for block in reader.hcas.values()):
        if reader.errors:
            return IbvDevinfo((), tuple(reader.errors), warnings=tuple(reader.warnings))
        if reader.strange:
            raise reader.strange[0]
        raise no_facts(_TOOL, lines, "no device and no error from here to the end")
    hcas = tuple(map(_verbs, reader.hcas.values()))
    return IbvDevinfo(hcas, tuple(reader.errors), len(reader.strange), tuple(reader.warnings))


def facts(parsed: IbvDevinfo) -> dict[str, Any]:
    """The same as a JSON-ready dictionary."""
    hcas = []
    for hca in parsed.hcas:
        found: dict[str, Any] = {
            "name": hca.name,
            "ports": [{"num": port.num, **_shown(port.values, _PORT_SHOWN, _PORT_NUMBER)} for port in hca.ports],
        }
        found.update(_shown(hca.values, _HCA_SHOWN, _HCA_NUMBER))
        hcas.append(found)
    result: dict[str, Any] = {"hcas": hcas, "n_hcas": len(hcas), "unread": parsed.unread}
    if not parsed.error_lines and any(map(_is_cut, parsed.hcas)):
        result["cut"] = True
    if parsed.warnings:
        result["warnings"] = list(parsed.warnings)
    if parsed.error_lines:
        result.update(error_lines=list(parsed.error_lines), error=parsed.error_lines[-1])
        if not hcas:
            result["n"] = 0
    return result


def _is_cut(hca: Verbs) -> bool:
    """Whether a port or its state is missing, which the tool always prints."""
    return not all(port.get("state") for port in hca.ports) or not (hca.ports or hca.get("phys_port_cnt") == "0")


def _may_go_on(line: str) -> bool:
    """Whether it is the beginning of a line that the tool prints, or may be."""
    key, colon, value = line.partition(":")
    if colon and key in _WHOLE:
        return _WHOLE[key].fullmatch(value.strip()) is None
    known = (*_HEADER, *_HCA_TEXT, *_HCA_NUMBER, "port", *_PORT_TEXT, *_PORT_NUMBER)
    return key in known or (not colon and any(name.startswith(key) for name in known))


def _shown(values: tuple[tuple[str, str], ...], keys: tuple[str, ...], numbers: tuple[str, ...]) -> dict[str, Any]:
    return {k: to_int(v) if k in numbers else v for k, v in values if k in keys}


def _verbs(hca: _Hca) -> Verbs:
    ports = (VerbsPort(num, port.pairs()) for num, port in hca.ports.items())
    return Verbs(hca.name, hca.pairs(), tuple(ports))
