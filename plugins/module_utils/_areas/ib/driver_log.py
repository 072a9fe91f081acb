# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver said last of a port that is down: better than what its physical state lets one guess."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable, Iterator, Mapping

from ..._data.kernel_drivers import WARN
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.check import FAIL, Check
from ..._ground.text import plain
from ..._parse import dmesg
from ..._parse._kernel_drivers import FAILS, device_of
from ..._parse.ibstat import Ca, Port
from ..._rails.ib_ports import Device, port_name
from ..machine.facts import Machine

_OF_A_PORT = re.compile(r"\b(?:port|module|cable|link|transceiver)\b", re.IGNORECASE)
_OVER = re.compile(r"\b(?:un)?plugged\b|\blink (?:is )?up\b", re.IGNORECASE)
_LINE = 160
_REMEDY = (
    "act on the driver's words: where they are of a module or cable, compare it with that of an equal port "
    "(`mlxlink -d DEVICE -m`) and swap it for one that this card takes; do not switch the port on before"
)


def read(
    evidence: Evidence, machine: Machine, ports: Iterable[tuple[Ca, Port]], devices: Mapping[str, Device]
) -> dict[str, str]:
    """The driver's words by "device/port", of these ports; a container's log is another machine's."""
    addresses = {port_name(ca, port): devices[ca.name].address for ca, port in ports}
    if machine.surely_simulated or machine.holds_part or not any(addresses.values()):
        return {}
    log = ask.command(evidence, "dmesg", dmesg.records).value or []
    return {name: last_words(log, address) for name, address in addresses.items() if address}


def last_words(log: Iterable[dmesg.Record], address: str) -> str:
    """The last failure of the port of this PCI function, "" where a plug, or a link that is up, came after it."""
    words = ""
    for _seconds, text, level in log:
        if address in text and _OF_A_PORT.search(text) and device_of(text) == address:
            if _OVER.search(text):
                words = ""
            elif (level is None or level <= WARN) and FAILS.search(text):
                words = plain(text, _LINE)
    return words


def explained(checks: Iterable[Check], words: str) -> Iterator[Check]:
    """The checks of one port, with the driver's words as the cause of its state."""
    for check in checks:
        of_state = check.result == FAIL and check.id in ("ib.port.state", "ib.port.physical_state")
        yield replace(check, cause=f"the driver says: {words}", remedy=_REMEDY) if words and of_state else check
