# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver said last of a port that is down: better than what its physical state lets one guess."""

from __future__ import annotations

import re
from typing import Iterable, Mapping

from ..._data.kernel_drivers import WARN
from ..._data.kernel_faults import PASSING_S
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.check import Cause
from ..._ground.text import plain
from ..._parse import dmesg
from ..._parse._kernel_drivers import FAILS, HARMLESS, device_of
from ..._parse.ibstat import Ca, Port
from ..._rails.ib_ports import Device, has_no_link, port_name
from ..machine.facts import Machine

_OF_A_PORT = re.compile(r"\b(?:port|module|cable|link|transceiver)\b", re.IGNORECASE)
_OF_THE_BUS = re.compile(r"\b(?:PCIe|AER)\b")
_OVER = re.compile(r"\b(?:un)?plugged\b|\blink (?:is )?up\b", re.IGNORECASE)
_LINE = 160
_REMEDY = (
    "act on the driver's words: where they are of a module or cable, compare it with that of an equal port "
    "(`mlxlink -d DEVICE -m`) and swap it for one that this card takes; do not switch the port on before"
)


def read(
    evidence: Evidence, machine: Machine, ports: Iterable[tuple[Ca, Port]], devices: Mapping[str, Device], up_s: int
) -> dict[str, str]:
    """The driver's words by "device/port", of those without a link; a container's log is another machine's."""
    addresses = {port_name(ca, port): devices[ca.name].address for ca, port in ports if has_no_link(port)}
    if machine.surely_simulated or machine.holds_part or not any(addresses.values()):
        return {}
    log = ask.command(evidence, "dmesg", dmesg.records).value or []
    said = {name: last_words(log, address, up_s - PASSING_S) for name, address in addresses.items() if address}
    return {name: words for name, words in said.items() if words}


def last_words(log: Iterable[dmesg.Record], address: str, since: float) -> str:
    """The last failure of the port of this PCI function, "" where a plug, or a link that is up, came after it, or
    where it was before ``since`` (seconds after the boot)."""
    words = ""
    for seconds, text, level in log:
        if (seconds is not None and seconds < since) or _OF_THE_BUS.search(text) or HARMLESS.search(text):
            continue
        if address in text and _OF_A_PORT.search(text) and device_of(text) == address:
            if _OVER.search(text):
                words = ""
            elif (level is None or level <= WARN) and FAILS.search(text):
                words = plain(text, _LINE)
    return words


def cause(words: str) -> Cause:
    """The driver's words as the cause of a port's state."""
    return Cause(f"the driver says: {words}", _REMEDY)
