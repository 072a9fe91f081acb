# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of switches' texts that a site hands in: a folder a switch, a file a command. Nothing asks a switch.

A text that is not understood, and a file that nothing reads, is an error that names it; never an empty answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...module_utils._ground.bound import Bound
from ...module_utils._ground.text import ParseError, few, printable
from .._fabric import plan
from .._ground import files
from . import nvue, sonic
from .port import SwitchPort, Text, Told

TEXTS, CABLING = "ibready_switch_texts", "ibready_switch_cabling"
SONIC, NVUE = "SONiC", "Cumulus Linux (NVUE)"
# A CONFIG_DB of 512 ports has some MiB.
_MOST: Bound = 32 * 1024 * 1024
_CONFIG_DB = "config_db.json"
_ROCE, _INTERFACES = "nv_show_qos_roce.txt", "nv_show_interface.txt"
_OF_PORT = re.compile(r"nv_show_interface_([A-Za-z0-9.-]{1,40})_qos_roce_status\.txt")
_READ = (
    f"{_CONFIG_DB} ({SONIC}), {_ROCE}, {_INTERFACES} and nv_show_interface_PORT_qos_roce_status.txt (Cumulus Linux), "
    "and no switch of another system"
)
_SHOWN = 4
_WATCHDOG = "no text of Cumulus Linux that ibready reads tells of the PFC watchdog"


@dataclass(frozen=True)
class Switch:
    """``names``: by which LLDP or a plan may mean it. ``error``: why its texts tell nothing."""

    name: str
    runs: str = ""
    names: frozenset[str] = frozenset()
    ports: Mapping[str, SwitchPort] = field(default_factory=dict)
    error: str = ""

    @cached_property
    def _named(self) -> dict[str, list[SwitchPort]]:
        found: dict[str, list[SwitchPort]] = {}
        for port in self.ports.values():
            for name in port.names:
                found.setdefault(name, []).append(port)
        return found

    def port(self, *named: str) -> SwitchPort | None:
        """By the first of these names that there is; None of a name that several ports have."""
        found = next((self._named[name.lower()] for name in named if name.lower() in self._named), [])
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class Switches:
    """All that was handed in. ``error``: why nothing of it can be used. ``cables``: switch and port by (host, its
    port), in lower case, as the site plans them."""

    switches: tuple[Switch, ...] = ()
    cables: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    error: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """All errors, with the variable that leads to each."""
        of_switches = (f"{TEXTS}: {switch.error}" for switch in self.switches if switch.error)
        return tuple(error for error in (self.error, *of_switches) if error)

    @cached_property
    def _named(self) -> tuple[dict[str, list[Switch]], dict[str, list[Switch]]]:
        """By name, and by name without a domain."""
        whole: dict[str, list[Switch]] = {}
        short: dict[str, list[Switch]] = {}
        for switch in self.switches:
            for name in switch.names:
                whole.setdefault(name, []).append(switch)
            for name in set(map(bare, switch.names)):
                short.setdefault(name, []).append(switch)
        return whole, short

    def find(self, name: str) -> Switch | None:
        """By its name, with or without a domain."""
        whole, short = self._named
        found = whole.get(name.lower()) or short.get(bare(name.lower()), [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def behind(self) -> dict[tuple[str, str], list[tuple[Switch, SwitchPort]]]:
        """By host and its port, in lower case: the switch ports that have them behind them."""
        found: dict[tuple[str, str], list[tuple[Switch, SwitchPort]]] = {}
        for switch in self.switches:
            for port in switch.ports.values():
                found.setdefault(port.remote, []).append((switch, port))
        return found


def bare(name: str) -> str:
    """A host name without its domain; an address stays."""
    return name if name.replace(".", "").isdecimal() else name.partition(".")[0]


def of_hosts(hostvars: Mapping[str, Any], names: Sequence[str]) -> Switches | None:
    """What the site of these hosts hands in, read once; None where no host has the variables."""
    said: dict[tuple[str, ...], str] = {}
    for name in names:
        mine = tuple(str(hostvars.get(name, {}).get(variable) or "") for variable in (TEXTS, CABLING))
        if any(mine):
            said.setdefault(mine, name)
    if len(said) > 1:
        return Switches(error=f"{TEXTS} and {CABLING} differ between {few(list(said.values()), _SHOWN)}")
    return asked(hostvars[next(iter(said.values()))]) if said else None


def asked(variables: Mapping[str, Any]) -> Switches | None:
    """What a site hands in, by the variables of one of its hosts; None where it hands in nothing."""
    folder, cabling = variables.get(TEXTS), variables.get(CABLING)
    if not folder and not cabling:
        return None
    try:
        cables = _cables(files.of_site(str(cabling), variables)) if cabling else {}
        if not folder:
            return Switches(cables=cables, error=f"{CABLING} names the cables, and no {TEXTS} what the switches do")
        return Switches(_folder(files.of_site(str(folder), variables)), cables)
    except (OSError, UnicodeError, plan.PlanError) as exc:
        name = CABLING if isinstance(exc, plan.PlanError) else f"{TEXTS}, {CABLING}"
        return Switches(error=f"{name}: {exc}")


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
        known = (_CONFIG_DB, _ROCE, _INTERFACES)
        strange = [file for file in texts if file not in known and not _OF_PORT.fullmatch(file)]
        if strange or not texts:
            what = f"{name}/{strange[0]}: nothing reads it" if strange else f"{name}: no text"
            return Switch(name, names=frozenset((name.lower(),)), error=f"{what}; ibready reads {_READ}")
        return _sonic(name, texts) if _CONFIG_DB in texts else _nvue(name, texts)
    except (OSError, ParseError) as exc:
        return Switch(name, names=frozenset((name.lower(),)), error=str(exc))


def _text(path: Path) -> Text:
    if not path.is_file() or path.stat().st_size > _MOST:
        raise ParseError(f"{path.parent.name}/{path.name}", 0, "", f"no file of at most {_MOST >> 20} MiB")
    try:
        return Text(f"{path.parent.name}/{path.name}", path.read_text(encoding="utf-8"))
    except UnicodeError as exc:
        raise ParseError(f"{path.parent.name}/{path.name}", 0, "", f"not UTF-8: {exc}") from exc


def _sonic(name: str, texts: Mapping[str, Text]) -> Switch:
    if len(texts) > 1:
        raise ParseError(name, 0, "", f"texts of two systems: {', '.join(texts)}")
    host, ports = sonic.read(texts[_CONFIG_DB])
    if host and bare(host.lower()) != bare(name.lower()):
        own = f"it is of a switch that calls itself {printable(host)}, and a folder has the switch's own name"
        raise ParseError(texts[_CONFIG_DB].name, 0, "", own)
    return Switch(name, SONIC, frozenset({name.lower(), host.lower()} - {""}), ports)


def _nvue(name: str, texts: Mapping[str, Text]) -> Switch:
    missing = {_ROCE: "nv show qos roce", _INTERFACES: "nv show interface"}
    for file, command in missing.items():
        if file not in texts:
            raise ParseError(name, 0, "", f"hand in {file} (`{command}`)")
    of_port = {match.group(1): text for file, text in texts.items() if (match := _OF_PORT.fullmatch(file))}
    ports = nvue.interfaces(texts[_INTERFACES])
    lost = [port for port in of_port if port not in ports]
    if lost:
        raise ParseError(of_port[lost[0]].name, 0, "", f"{_INTERFACES} has no interface {lost[0]}")
    own = {port: nvue.roce(text) for port, text in of_port.items()}
    joined = nvue.joined(ports, nvue.roce(texts[_ROCE]), own)
    silent = {port: replace(entry, watchdog=Told(why=_WATCHDOG)) for port, entry in joined.items()}
    return Switch(name, NVUE, frozenset((name.lower(),)), silent)
