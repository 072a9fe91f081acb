# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the next boot sets by itself: kernel settings, modules, services."""

from __future__ import annotations

import re
from typing import Iterator

from ..._data import boot_sources, host_units
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import lsmod
from ..machine.facts import Machine
from . import dropins
from .facts import BootFacts, SysctlLine, UnitFiles
from .observe_services import units

_MODULE = re.compile(r"^[ \t]*([A-Za-z0-9_-]{1,64})[ \t]*$", re.MULTILINE)
_SWITCH = re.compile(r"^[ \t]*([A-Z0-9_]{1,40})_LOAD=[\"']?(?:yes|YES|y|Y|1)\b", re.MULTILINE)


def observe(evidence: Evidence, machine: Machine) -> BootFacts:
    """Files in the order in which systemd reads them; a service that runs and its state."""
    services = units(evidence, boot_sources.UNITS)
    if services.value is not None and machine.board is not None and machine.board.imex:
        known = services.value
        services = units(evidence, (boot_sources.IMEX,)).map(lambda more: (*known, *more))
    return BootFacts(
        sysctls=_sysctls(evidence),
        running={key: _running(evidence, key) for key in boot_sources.SYSCTLS},
        modules=_modules(evidence),
        users=ask.command(evidence, "lsmod", _users),
        # Only what was loaded has it, and nothing that is built in.
        live={name: ask.text(evidence, f"/sys/module/{name}/initstate").known for name in boot_sources.BY_NAME},
        services=services,
        units=_units(evidence),
        kubelet=ask.there(evidence, host_units.KUBELET),
    )


def _units(evidence: Evidence) -> Reading[tuple[UnitFiles, ...]]:
    """systemd's own settings, and of each unit that is installed its files."""
    every = [dropins.manager(evidence), dropins.unit(evidence, [f"{name}.service" for name in host_units.SSH])]
    every += [dropins.unit(evidence, [f"{name}.service"]) for name in boot_sources.WATCHED]
    lost = next((entry.why for entry in every if entry.value is None and not entry.missing), "")
    return Reading(None, lost) if lost else Reading(tuple(entry.value for entry in every if entry.value is not None))


def _running(evidence: Evidence, key: str) -> Reading[str]:
    return ask.text(evidence, f"/proc/sys/{key}")


def _sysctls(evidence: Evidence) -> Reading[tuple[SysctlLine, ...]]:
    """Every line of a watched key or of one that our own file sets, in the order of reading."""
    paths = dropins.files(evidence, boot_sources.SYSCTL_FOLDERS)
    if paths.value is None:
        return Reading(None, paths.why)
    lines: list[SysctlLine] = []
    # systemd reads it by the link 99-sysctl.conf; `sysctl --system` reads it last in any case.
    linked = any(path.endswith("/99-sysctl.conf") for path in paths.value)
    for path in (*paths.value, *(() if linked else (boot_sources.SYSCTL_CONF,))):
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        lines += settings(path, text.value or "")
    ours = {line.key for line in lines if line.path == boot_sources.OURS}
    return Reading(tuple(line for line in lines if line.key in ours or line.key in boot_sources.SYSCTLS))


def settings(path: str, text: str) -> Iterator[SysctlLine]:
    """The lines of a file of sysctl.d."""
    for raw in text.split("\n"):
        line = raw.strip()
        name, equals, value = line.partition("=")
        name = name.strip().lstrip("-").strip()
        # A pattern never overrides a key that is named in full. Source: sysctl.d(5).
        if not equals or line[:1] in ("#", ";") or "*" in name:
            continue
        yield SysctlLine(_path(name), " ".join(value.split()), path, " ".join(line.split()))


def _path(key: str) -> str:
    """Below /proc/sys: where the first separator is a dot, dots and slashes change places."""
    first = min((key.find(sep) for sep in "./" if sep in key), default=-1)
    return key if first < 0 or key[first] == "/" else key.translate(str.maketrans("./", "/."))


def _modules(evidence: Evidence) -> Reading[dict[str, str]]:
    """By module, a file that has it loaded at boot."""
    paths = dropins.files(evidence, boot_sources.MODULE_FOLDERS)
    rdma = ask.names(evidence, boot_sources.RDMA_MODULES)
    for reading in (paths, rdma):
        if reading.value is None and not reading.missing:
            return Reading(None, reading.why)
    others = [f"{boot_sources.RDMA_MODULES}/{name}" for name in rdma.value or () if name.endswith(".conf")]
    found: dict[str, str] = {}
    for path in (*(paths.value or ()), boot_sources.ETC_MODULES, *others):
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for name in _MODULE.findall(text.value or ""):
            found.setdefault(name.replace("-", "_"), path)
    openib = ask.text(evidence, boot_sources.OPENIB)
    if openib.value is None and not openib.missing:
        return Reading(None, openib.why)
    for switch in _SWITCH.findall(openib.value or ""):
        for name in boot_sources.OPENIB_SWITCHES.get(switch, ()):
            found.setdefault(name, boot_sources.OPENIB)
    return Reading(found)


def _users(text: str) -> dict[str, tuple[str, ...]]:
    """By loaded module, those that bring it along."""
    parsed = lsmod.parse(text)
    if parsed.unread:
        raise ValueError(f"lsmod: {parsed.cut}")
    return {module.name: module.by for module in parsed.modules}
