# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of switches' texts that a site hands in: a folder a switch, a file a command. Nothing asks a switch.

A text that is not understood, and a file that nothing reads, is an error that names it; never an empty answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...module_utils._ground.text import ParseError
from .._fabric import plan
from . import nvue, sonic
from .port import SwitchPort, Text, Told

TEXTS, CABLING = "ibready_switch_texts", "ibready_switch_cabling"
SONIC, NVUE = "SONiC", "Cumulus Linux (NVUE)"
# A CONFIG_DB of 512 ports has some MiB.
_MOST = 32 * 1024 * 1024
_CONFIG_DB = "config_db.json"
_ROCE, _INTERFACES = "nv_show_qos_roce.txt", "nv_show_interface.txt"
_OF_PORT = re.compile(r"nv_show_interface_([A-Za-z0-9.-]{1,40})_qos_roce_status\.txt")
_READ = f"{_CONFIG_DB} (SONiC), {_ROCE}, {_INTERFACES}, nv_show_interface_PORT_qos_roce_status.txt (Cumulus Linux)"
_HAND_IN = "hand in {file} (`{command}`)"
_WATCHDOG = "no text of Cumulus Linux that ibready reads tells of the PFC watchdog"


@dataclass(frozen=True)
class Switch:
    """``names``: by which LLDP or a plan may mean it. ``error``: why its texts tell nothing."""

    name: str
    runs: str = ""
    names: frozenset[str] = frozenset()
    ports: Mapping[str, SwitchPort] = field(default_factory=dict)
    error: str = ""

    def port(self, *named: str) -> SwitchPort | None:
        wanted = {name.lower() for name in named if name}
        return next((port for port in self.ports.values() if port.names & wanted), None)


@dataclass(frozen=True)
class Switches:
    """All that was handed in. ``error``: why nothing of it can be used. ``cables``: switch and port by (host, its
    port), in lower case, as the site plans them."""

    switches: tuple[Switch, ...] = ()
    cables: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    error: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """All errors."""
        return tuple(error for error in (self.error, *(switch.error for switch in self.switches)) if error)

    def find(self, name: str) -> Switch | None:
        """By its name, with or without a domain."""
        word = name.lower()
        found = [switch for switch in self.switches if word in switch.names]
        found = found or [switch for switch in self.switches if bare(word) in map(bare, switch.names)]
        return found[0] if len(found) == 1 else None


def bare(name: str) -> str:
    """A host name without its domain; an address stays."""
    return name if name.replace(".", "").isdecimal() else name.partition(".")[0]


def asked(variables: Mapping[str, Any]) -> Switches | None:
    """What a site hands in, by the variables of one of its hosts; None where it hands in nothing."""
    folder, cabling = variables.get(TEXTS), variables.get(CABLING)
    if not folder and not cabling:
        return None
    try:
        cables = _cables(_place(str(cabling), variables)) if cabling else {}
        if not folder:
            return Switches(cables=cables, error=f"{CABLING} names the cables, and no {TEXTS} what the switches do")
        return Switches(_folder(_place(str(folder), variables)), cables)
    except (OSError, UnicodeError, plan.PlanError) as exc:
        name = CABLING if isinstance(exc, plan.PlanError) else f"{TEXTS}, {CABLING}"
        return Switches(error=f"{name}: {exc}")


def _place(file: str, variables: Mapping[str, Any]) -> Path:
    """One that is not in the working directory is looked for beside the inventory."""
    path = Path(file).expanduser()
    beside = Path(str(variables.get("inventory_dir") or ".")) / path
    return path if path.exists() or not beside.exists() else beside


def _cables(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Both ways, for a plan may begin at either end."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for line_no, first, first_port, second, second_port in plan.rows(path.read_text(encoding="utf-8")):
        ends = ((first, first_port), (second, second_port))
        for here, there in (ends, ends[::-1]):
            key = (here[0].lower(), here[1].lower())
            if not all(key):
                raise plan.PlanError(f"{path.name} line {line_no}: a cable without a name or a port")
            if key in found:
                raise plan.PlanError(f"{path.name} line {line_no}: {here[0]} {here[1]} has a cable already")
            found[key] = there
    return found


def _folder(folder: Path) -> tuple[Switch, ...]:
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        found.append(
            _switch(Path(entry.path))
            if entry.is_dir()
            else Switch(entry.name, error=f"{entry.name}: a folder a switch is expected, with a file a command in it")
        )
    if not found:
        raise FileNotFoundError(f"{folder} is empty: a folder a switch is expected")
    return tuple(found)


def _switch(folder: Path) -> Switch:
    name = folder.name
    try:
        texts = {entry.name: _text(entry) for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")}
        strange = [file for file in texts if file not in (_CONFIG_DB, _ROCE, _INTERFACES) and not _OF_PORT.match(file)]
        if strange or not texts:
            what = f"{name}/{strange[0]}: nothing reads it" if strange else f"{name}: no text"
            return Switch(name, names=frozenset((name.lower(),)), error=f"{what}; ibready reads {_READ}")
        return _sonic(name, texts) if _CONFIG_DB in texts else _nvue(name, texts)
    except (OSError, UnicodeError, ParseError) as exc:
        return Switch(name, names=frozenset((name.lower(),)), error=str(exc))


def _text(path: Path) -> Text:
    if not path.is_file() or path.stat().st_size > _MOST:
        raise ParseError(f"{path.parent.name}/{path.name}", 0, "", f"no file of at most {_MOST >> 20} MiB")
    return Text(f"{path.parent.name}/{path.name}", path.read_text(encoding="utf-8"))


def _sonic(name: str, texts: Mapping[str, Text]) -> Switch:
    if len(texts) > 1:
        raise ParseError(name, 0, "", f"texts of two systems: {', '.join(texts)}")
    host, ports = sonic.read(texts[_CONFIG_DB])
    return Switch(name, SONIC, frozenset({name.lower(), host.lower()} - {""}), ports)


def _nvue(name: str, texts: Mapping[str, Text]) -> Switch:
    missing = {_ROCE: "nv show qos roce", _INTERFACES: "nv show interface"}
    for file, command in missing.items():
        if file not in texts:
            raise ParseError(name, 0, "", _HAND_IN.format(file=file, command=command))
    of_port = {match.group(1): text for file, text in texts.items() if (match := _OF_PORT.fullmatch(file))}
    ports = nvue.interfaces(texts[_INTERFACES])
    lost = [port for port in of_port if port not in ports]
    if lost:
        raise ParseError(of_port[lost[0]].name, 0, "", f"{_INTERFACES} has no interface {lost[0]}")
    own = {port: nvue.roce(text) for port, text in of_port.items()}
    joined = nvue.joined(ports, nvue.roce(texts[_ROCE]), own)
    silent = {port: replace(entry, watchdog=Told(why=_WATCHDOG)) for port, entry in joined.items()}
    return Switch(name, NVUE, frozenset((name.lower(),)), silent)
