# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibv_devinfo`` prints, with or without ``-v``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines, no_facts, to_int
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
_ERRORS = ("No IB devices found", "Failed to ", "IB device ")


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
    """Every device that libibverbs knows, and what the tool said when it gave up."""

    hcas: tuple[Verbs, ...]
    error_lines: tuple[str, ...] = ()


class _Hca(Block):
    def __init__(self, name: str) -> None:
        super().__init__(_TOOL, name)
        self.ports: dict[int, Block] = {}


def parse(text: str) -> IbvDevinfo:
    """Read the output; raise ParseError where it gives neither a device nor an error."""
    lines = flat_lines(text)
    hcas: dict[str, _Hca] = {}
    hca: _Hca | None = None
    port: Block | None = None
    errors: list[str] = []
    for line_no, line in enumerate(lines, 1):
        key, _colon, value = line.partition(":")
        number = _PORT_LINE.fullmatch(line)
        if key in _HEADER and value.strip():
            hca, port = _open(hcas, value.strip(), line_no, line), None
        elif number is not None:
            if hca is None:
                raise ParseError(_TOOL, line_no, line, "a port before the first device")
            port = _port(hca, int(number.group(1)), line_no, line)
        elif line.startswith(_ERRORS):
            errors.append(line)
        else:
            _put(hca, port, line_no, line)
    if not any(block.values or block.ports for block in hcas.values()):
        if errors:
            return IbvDevinfo((), tuple(errors))
        raise no_facts(_TOOL, lines, "no device and no error from here to the end")
    return IbvDevinfo(tuple(_verbs(block) for block in hcas.values()), tuple(errors))


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
    result: dict[str, Any] = {"hcas": hcas, "n_hcas": len(hcas)}
    if parsed.error_lines:
        result.update(error_lines=list(parsed.error_lines), error=parsed.error_lines[-1])
        if not hcas:
            result["n"] = 0
    return result


def _shown(values: tuple[tuple[str, str], ...], keys: tuple[str, ...], numbers: tuple[str, ...]) -> dict[str, Any]:
    return {k: to_int(v) if k in numbers else v for k, v in values if k in keys}


def _open(hcas: dict[str, _Hca], name: str, line_no: int, line: str) -> _Hca:
    known = hcas.get(name)
    if known is None:
        known = hcas[name] = _Hca(name)
    elif known.values or known.ports:
        raise ParseError(_TOOL, line_no, line, "this device was already listed")
    return known


def _port(hca: _Hca, num: int, line_no: int, line: str) -> Block:
    known = hca.ports.get(num)
    if known is None:
        known = hca.ports[num] = Block(_TOOL, str(num))
    elif known.values:
        raise ParseError(_TOOL, line_no, line, "this port was already listed")
    return known


def _put(hca: _Hca | None, port: Block | None, line_no: int, line: str) -> None:
    key, colon, value = line.partition(":")
    value = value.strip()
    if not colon or not value:
        return
    if key in _PORT_TEXT or key in _PORT_NUMBER:
        block: Block | None = port
    elif key in _HCA_TEXT or key in _HCA_NUMBER:
        # -v lists the port's own node data nowhere: such a line after a port is another device's.
        block = hca if port is None else None
    else:
        return
    if block is None:
        raise ParseError(_TOOL, line_no, line, "belongs to nothing: a line before it is missing")
    if key in _PORT_NUMBER or key in _HCA_NUMBER:
        try:
            to_int(value)
        except ValueError as exc:
            raise ParseError(_TOOL, line_no, line, str(exc)) from exc
    block.put(key, line_no, line, value)


def _verbs(hca: _Hca) -> Verbs:
    ports = (VerbsPort(num, port.pairs()) for num, port in hca.ports.items())
    return Verbs(hca.name, hca.pairs(), tuple(ports))
