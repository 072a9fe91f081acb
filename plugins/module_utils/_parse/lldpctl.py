# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``lldpctl -f json`` prints (lldpd): who hangs on each interface, and what flow control it advertises.

Both of lldpd's forms are read: ``json``, in which what stands alone is no list and a chassis is below its name, and
``json0``, in which everything is a list. DCBX is nothing that lldpd decodes: the TLV of IEEE 802.1Qaz for flow control
(OUI 00-80-C2, subtype 11) is among the unknown ones, two bytes: willing and capability, then a bit a priority.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator

from .._ground.text import ParseError
from ._records import load

_TOOL = "lldpctl"
_OUI, _PFC = "00,80,C2", "11"
_BYTES = re.compile(r"[0-9A-Fa-f]{2},([0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Neighbour:
    """What is heard on one interface. ``switch``: its system name, "" where it tells none; ``chassis``: its id.
    ``port``: the id of its port, ``label``: that port's description. ``pfc``: the priorities for which it advertises
    flow control, None where it advertises nothing of it."""

    interface: str
    switch: str
    chassis: str
    port: str
    label: str = ""
    pfc: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.switch or self.chassis} {self.port}"


def parse(text: str) -> tuple[Neighbour, ...]:
    """Every neighbour, () where none is heard; ParseError on a text that is no such answer."""
    found = load(_TOOL, text)
    top = found.get("lldp") if isinstance(found, dict) else None
    if not isinstance(top, (dict, list)):
        raise ParseError(_TOOL, 0, "", "no object 'lldp'")
    return tuple(_neighbour(name, body) for part in _listed(top) for name, body in _interfaces(part))


def _interfaces(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and body of each: in json0 the name is one of the body's, in json the body is below it."""
    if not isinstance(part, dict):
        raise ParseError(_TOOL, 0, "", "what is below 'lldp' is no object")
    for entry in _listed(part.get("interface")):
        if not isinstance(entry, dict):
            raise ParseError(_TOOL, 0, "", "an interface is no object")
        if isinstance(entry.get("name"), str):
            yield entry["name"], entry
            continue
        for name, body in entry.items():
            if not isinstance(body, dict):
                raise ParseError(_TOOL, 0, "", f"interface {name[:40]!r} is no object")
            yield name, body


def _neighbour(interface: str, body: dict[str, Any]) -> Neighbour:
    switch, chassis = _chassis(_first(body.get("chassis")))
    port = _first(body.get("port"))
    told = port if isinstance(port, dict) else {}
    name = _word(told.get("id"))
    if not name or not (switch or chassis):
        raise ParseError(_TOOL, 0, "", f"the neighbour of {interface[:40]!r} tells no {'chassis' if name else 'port'}")
    return Neighbour(interface, switch, chassis, name, _word(told.get("descr")), _pfc(body.get("unknown-tlvs")))


def _chassis(told: Any) -> tuple[str, str]:
    """System name and chassis id."""
    if not isinstance(told, dict):
        return "", ""
    if "id" in told:
        return _word(told.get("name")), _word(told["id"])
    named = next(iter(told.items()), ("", None))
    return named[0], _word(named[1].get("id")) if isinstance(named[1], dict) else ""


def _pfc(told: Any) -> tuple[int, ...] | None:
    for group in _listed(told):
        for tlv in _listed(group.get("unknown-tlv")) if isinstance(group, dict) else ():
            if not isinstance(tlv, dict) or tlv.get("oui") != _OUI or str(tlv.get("subtype")) != _PFC:
                continue
            match = _BYTES.fullmatch(str(tlv.get("value")))
            if match is None:
                raise ParseError(_TOOL, 0, "", f"{str(tlv.get('value'))[:40]!r} are not the two bytes of a PFC TLV")
            bits = int(match.group(1), 16)
            return tuple(priority for priority in range(8) if bits >> priority & 1)
    return None


def _listed(told: Any) -> list[Any]:
    return [] if told is None else told if isinstance(told, list) else [told]


def _first(told: Any) -> Any:
    return next(iter(_listed(told)), None)


def _word(told: Any) -> str:
    """A text, or the ``value`` of what has one."""
    told = _first(told)
    told = told.get("value") if isinstance(told, dict) else told
    return told.strip() if isinstance(told, str) else ""
