# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``mst status`` and ``mst status -v`` print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import flat_lines, no_facts

_TOOL = "mst_status"
_DEVICE = "/dev/mst/"
_PCI = re.compile(r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_NUMA = re.compile(r"-?[0-9]{1,4}")
_MODULES = {
    "MST PCI configuration module": "pciconf_loaded",
    "MST PCI module": "pci_loaded",
}

NOTHING: dict[str, Any] = {"devices": []}


@dataclass(frozen=True)
class MstDevice:
    """One line of the long listing. ``mst``: the device file, or NA where the modules are not
    loaded; ``rdma`` "" and ``numa`` None where the line shows none."""

    mst: str
    pci: str
    rdma: str
    numa: int | None


@dataclass(frozen=True)
class MstStatus:
    """``files`` of the short listing, ``devices`` of the long one; whether the modules are loaded
    (None: not told); ``error``: what the tool complained of."""

    files: tuple[str, ...] = ()
    devices: tuple[MstDevice, ...] = ()
    pci_loaded: bool | None = None
    pciconf_loaded: bool | None = None
    error: str = ""


def parse(text: str) -> MstStatus:
    """Read either listing; raise ParseError where there is nothing of the tool's in it."""
    lines = flat_lines(text)
    files: list[str] = []
    devices: list[MstDevice] = []
    loaded: dict[str, bool] = {}
    error = ""
    known = False
    for line in lines:
        words = line.split()
        if line.startswith(("MST modules", "MST devices", "PCI devices", "No MST")):
            known = True
        elif line.startswith("-E-"):
            error = error or line
        elif line.startswith("MST "):
            _module(line, loaded)
        elif line.startswith(_DEVICE):
            files.append(words[0])
        elif len(words) >= 3 and _PCI.fullmatch(words[2]):
            devices.append(_device(words))
        elif devices and devices[-1].numa is None and _NUMA.fullmatch(line):
            # The last column, wrapped by a narrow terminal.
            last = devices.pop()
            devices.append(MstDevice(last.mst, last.pci, last.rdma, int(line)))
    if not (files or devices or loaded or error or known):
        raise no_facts(_TOOL, lines, "neither modules nor devices from here to the end")
    return MstStatus(tuple(files), tuple(devices), loaded.get("pci_loaded"), loaded.get("pciconf_loaded"), error)


def _module(line: str, loaded: dict[str, bool]) -> None:
    for start, name in _MODULES.items():
        if line.startswith(start) and line.endswith("loaded"):
            loaded[name] = not line.endswith("not loaded")
            return


def _device(words: list[str]) -> MstDevice:
    rest = words[3:]
    numa = int(rest.pop()) if rest and _NUMA.fullmatch(rest[-1]) else None
    rdma = rest[0] if rest and not rest[0].startswith("net-") and rest[0] != "NA" else ""
    return MstDevice(words[1], words[2], rdma, numa)


def facts(parsed: MstStatus) -> dict[str, Any]:
    """The same in the words of docs/parsers.md."""
    found: dict[str, Any] = {"devices": list(parsed.files)}
    if parsed.devices:
        found["devices"] = [
            {"mst": device.mst, "pci": device.pci, "rdma": device.rdma, "numa": device.numa}
            for device in parsed.devices
        ]
    for name, value in (
        ("pciconf_loaded", parsed.pciconf_loaded),
        ("pci_loaded", parsed.pci_loaded),
    ):
        if value is not None:
            found[name] = value
    if parsed.error:
        found["error"] = parsed.error
    return found
