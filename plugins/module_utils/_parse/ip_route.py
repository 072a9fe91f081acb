# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ip -j route get ADDRESS`` prints: the way to one address."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError
from ._records import records, text_of

_TOOL = "ip_route"
# To this host itself.
LOCAL = "local"
_CARRIES = ("", "unicast", LOCAL)


@dataclass(frozen=True)
class Route:
    """The way to ``peer``: out of interface ``dev``, from address ``source``, through ``gateway``
    ("" where the peer is on the link). ``local``: the peer is this host itself."""

    peer: str
    dev: str
    source: str
    gateway: str = ""
    local: bool = False


def parse(text: str) -> Route:
    """Read the one route; ParseError where there is none that carries packets."""
    found = records(_TOOL, text)
    if len(found) != 1:
        raise ParseError(_TOOL, 0, "", f"{len(found)} routes, and not one")
    record = found[0]
    kind, dev = text_of(_TOOL, record, "type"), text_of(_TOOL, record, "dev")
    if kind not in _CARRIES:
        raise ParseError(_TOOL, 0, "", f"the route is {kind}")
    if not dev:
        raise ParseError(_TOOL, 0, "", "the route names no interface")
    peer, source = _address(record, "dst"), _address(record, "prefsrc")
    via = record.get("via", {})
    if not isinstance(via, dict):
        raise ParseError(_TOOL, 0, "", "via is no object")
    # A gateway of the other family is told apart: {"via": {"family": "inet6", "host": ...}}.
    gateway = text_of(_TOOL, record, "gateway") or text_of(_TOOL, via, "host")
    return Route(peer, dev, source, gateway, kind == LOCAL)


def _address(record: dict[str, Any], key: str) -> str:
    text = text_of(_TOOL, record, key)
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ParseError(_TOOL, 0, "", f"{key} is no address") from None
