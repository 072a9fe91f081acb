# SPDX-License-Identifier: GPL-3.0-or-later
"""Read HCAs and their ports from sysfs, in the words of ``ibstat``."""

from __future__ import annotations

import re
from typing import Callable, TypeVar

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._ground.text import ParseError, to_int, to_rate
from ..._parse.ibstat import Ca, Port

T = TypeVar("T")

BASE = "/sys/class/infiniband"
_STATES = {
    "NOP": "???",
    "DOWN": "Down",
    "INIT": "Initializing",
    "ARMED": "Armed",
    "ACTIVE": "Active",
    "ACTIVE_DEFER": "???",
    "UNKNOWN": "???",
}
_PHYSICAL_STATES = {
    "No state change": "No state change",
    "Sleep": "Sleep",
    "Polling": "Polling",
    "Disabled": "Disabled",
    "PortConfigurationTraining": "PortConfigurationTraining",
    "LinkUp": "LinkUp",
    "LinkErrorRecovery": "LinkErrorRecovery",
    "Phy Test": "PhyTest",
    "<unknown>": "???",
}
_NUMBERED = re.compile(r"[0-9]{1,2}: ?(.*)")
_WORDS = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){3}")
_PORT_NUMBER = re.compile(r"[0-9]{1,3}")
_NO_DIRECTORY = "no such directory"
# As evidence says it of files and commands.
NOT_COLLECTED = "not in the bundle"
_WIDTH = re.compile(r"\(([0-9]{1,2}X(?: [A-Z0-9]{1,8})?)\)")


def read_cas(evidence: Evidence) -> tuple[Ca, ...]:
    """List the HCAs of ``/sys/class/infiniband``, sorted by name.

    `n_ports` is the number of port directories, None where they cannot be listed.
    A missing file gives "" or None; a missing directory raises Unavailable; a file with something
    unexpected in it raises ParseError, which names it.
    """
    return tuple(_ca(evidence, name) for name in evidence.list(BASE))


def _ca(evidence: Evidence, name: str) -> Ca:
    base = f"{BASE}/{name}"
    numbers = _port_numbers(evidence, f"{base}/ports")
    return Ca(
        name=name,
        type=_text(evidence, f"{base}/hca_type"),
        n_ports=None if numbers is None else len(numbers),
        fw=_text(evidence, f"{base}/fw_ver"),
        hw=_text(evidence, f"{base}/hw_rev"),
        node_guid=_value(evidence, f"{base}/node_guid", _guid) or "",
        system_guid=_value(evidence, f"{base}/sys_image_guid", _guid) or "",
        ports=tuple(_port(evidence, f"{base}/ports/{num}", num) for num in numbers or ()),
    )


def _port(evidence: Evidence, base: str, num: int) -> Port:
    return Port(
        num=num,
        state=_value(evidence, f"{base}/state", state_word) or "",
        physical_state=_value(evidence, f"{base}/phys_state", physical_word) or "",
        rate=_value(evidence, f"{base}/rate", to_rate),
        lid=_value(evidence, f"{base}/lid", to_int),
        lmc=_value(evidence, f"{base}/lid_mask_count", to_int),
        sm_lid=_value(evidence, f"{base}/sm_lid", to_int),
        capability_mask=_text(evidence, f"{base}/cap_mask"),
        port_guid=_value(evidence, f"{base}/gids/0", gid_guid) or "",
        link_layer=_text(evidence, f"{base}/link_layer"),
    )


def _port_numbers(evidence: Evidence, path: str) -> list[int] | None:
    names = ask.names(evidence, path).value
    for name in names or ():
        if _PORT_NUMBER.fullmatch(name) is None:
            raise ParseError(path, 1, name, "not a port number")
    return None if names is None else sorted(int(name) for name in names)


def _text(evidence: Evidence, path: str) -> str:
    return ask.text(evidence, path).value or ""


def _value(evidence: Evidence, path: str, convert: Callable[[str], T]) -> T | None:
    text = _text(evidence, path)
    if not text:
        return None
    try:
        return convert(text)
    except ValueError as exc:
        raise ParseError(path, 1, text.split("\n", 1)[0], str(exc)) from exc


def state_word(text: str) -> str:
    """Turn ``4: ACTIVE`` into ibstat's ``Active``; ValueError for what is no port state."""
    return _named(text, _STATES)


def physical_word(text: str) -> str:
    """Turn ``5: LinkUp`` into ibstat's ``LinkUp``; ValueError for what is no port state."""
    return _named(text, _PHYSICAL_STATES)


def names(evidence: Evidence, path: str) -> Reading[list[str]]:
    """The names in a directory; a bundle that does not hold it says nothing about the host."""
    listed = ask.names(evidence, path)
    if evidence.recorded and not listed.missing and listed.why.endswith(_NO_DIRECTORY):
        return Reading(None, f"{path}: {NOT_COLLECTED}")
    return listed


def link_of(evidence: Evidence, device: str, port: int) -> str:
    """Width and speed of a port, as ``4X NDR``; "" where the kernel does not show them."""
    return width_and_speed(_text(evidence, f"{BASE}/{device}/ports/{port}/rate"))


def prefix_of(evidence: Evidence, device: str, port: int) -> str:
    """The prefix of the subnet that a port is in; "" where the kernel does not show it."""
    prefix = _text(evidence, f"{BASE}/{device}/ports/{port}/gids/0")[:19]
    return prefix if _WORDS.fullmatch(prefix) else ""


def width_and_speed(rate: str) -> str:
    """Take ``4X NDR`` out of ``400 Gb/sec (4X NDR)``; "" where it is not there."""
    match = _WIDTH.search(rate)
    return match.group(1) if match else ""


def _named(text: str, names: dict[str, str]) -> str:
    """Turn ``4: ACTIVE`` into ibstat's word for it."""
    match = _NUMBERED.fullmatch(text)
    if match is None or match.group(1) not in names:
        raise ValueError("not a port state")
    return names[match.group(1)]


def _guid(text: str) -> str:
    """Turn ``a088:c203:00e3:142a`` into ``0xa088c20300e3142a``."""
    if _WORDS.fullmatch(text) is None:
        raise ValueError("not a GUID")
    return "0x" + text.replace(":", "")


def gid_guid(text: str) -> str:
    """Take the low half of a GID, which is the port's GUID."""
    prefix, guid = text[:19], text[20:]
    if text[19:20] != ":" or _WORDS.fullmatch(prefix) is None:
        raise ValueError("not a GID")
    return _guid(guid)
