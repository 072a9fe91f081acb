# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host has to boot before what is installed is what runs; facts in, reasons out, no I/O.

What could not be looked at is told as such: nobody may take it for "no reboot needed".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Mapping

from ..._data.reloads import ITS_RIVAL, RIVAL, WATCHED, Watched
from ..._ground.reading import Reading

# How a cause begins that only a boot ends, whichever check tells it: causes/kernel.yml lays what follows at its door.
WAITS = "a reboot waits: "
KERNEL, MODULE, ARGUMENT, BLACKLIST, FIRMWARE, PACKAGES = (
    "kernel",
    "module",
    "argument",
    "blacklist",
    "firmware",
    "packages",
)
KINDS = (KERNEL, MODULE, ARGUMENT, BLACKLIST, FIRMWARE, PACKAGES)
_PART = re.compile(r"[0-9]+|[a-zA-Z]+")
_FIELD = re.compile(r"^(filename|version|srcversion):\s*(.*?)\s*$", re.MULTILINE)
_BUILT_IN = "(builtin)"


@dataclass(frozen=True)
class ModuleVersion:
    """What tells one build of a module from another; "" where the module does not say."""

    version: str = ""
    srcversion: str = ""
    filename: str = ""

    def shown(self) -> str:
        """The best name that there is for this build."""
        return self.version or (f"build {self.srcversion}" if self.srcversion else "no version")


@dataclass(frozen=True)
class RebootFacts:
    """``container``: what kind of container we look from, "" outside; its kernel is not its own.

    ``default``: the kernel that the next boot starts. ``own_modules``: whether the running kernel's
    directory below /lib/modules is there. ``loaded``, ``installed``: modules by name; one that is
    not loaded is in neither, one whose file is gone is missing. ``late``: arguments of the command
    line that wait (``+x``, ``-x``). ``kept_out``: loaded modules of the blacklist. ``firmware``: of each
    card that ibready wrote, in words what waits, "" for nothing. ``asked``: the packages that ask for
    a reboot.
    """

    container: str = ""
    simulated: str = ""
    running: str = ""
    default: Reading[str] = field(default_factory=Reading)
    own_modules: Reading[bool] = field(default_factory=Reading)
    loaded: Mapping[str, ModuleVersion] = field(default_factory=dict)
    installed: Mapping[str, Reading[ModuleVersion]] = field(default_factory=dict)
    late: tuple[str, ...] = ()
    kept_out: tuple[str, ...] = ()
    firmware: Mapping[str, Reading[str]] = field(default_factory=dict)
    asked: Reading[tuple[str, ...]] = field(default_factory=Reading)


@dataclass(frozen=True)
class Reason:
    """One thing that waits. ``reload``: what would do without a reboot, "" for nothing."""

    kind: str
    subject: str
    what: str
    reload: str = ""


@dataclass(frozen=True)
class Need:
    """``reasons``: what has to boot. ``unknown``: what could not be told, with the reason."""

    reasons: tuple[Reason, ...] = ()
    unknown: tuple[str, ...] = ()


def judge(facts: RebootFacts, *, removed: bool = False) -> Need:
    """Everything that waits for a boot, and what could not be looked at.

    ``removed``: packages were taken away by intent, so that a loaded module without a file waits
    for a boot, too. Otherwise nobody can tell: it may have been built for another kernel.
    """
    reasons: list[Reason] = []
    unknown: list[str] = []
    if not facts.container:
        _kernel(facts, reasons, unknown)
    if not facts.container or facts.simulated:
        _modules(facts, reasons, unknown, removed)
        reasons += [Reason(BLACKLIST, name, f"{name} is to be kept out and is still loaded") for name in facts.kept_out]
    reasons += [Reason(ARGUMENT, entry[1:], _argument(entry)) for entry in facts.late]
    for device, waits in facts.firmware.items():
        if waits.value is None:
            unknown.append(f"firmware was written to {device}, and nobody can tell what it runs ({waits.why})")
        elif waits.value:
            reasons.append(Reason(FIRMWARE, device, waits.value))
    if facts.asked.value:
        packages = ", ".join(facts.asked.value[:5])
        reasons.append(Reason(PACKAGES, "packages", f"asked for by {packages}"))
    elif facts.asked.value is None and not facts.container:
        unknown.append(facts.asked.why)
    return Need(tuple(reasons), tuple(entry for entry in unknown if entry))


def newest(releases: list[str]) -> str:
    """The kernel release that sorts last, number by number; "" of none."""
    return max(releases, key=_order, default="")


def _order(release: str) -> list[tuple[int, int, str]]:
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _PART.findall(release)]


def parse_modinfo(text: str) -> ModuleVersion:
    """What ``modinfo NAME`` tells of the file that would be loaded; ValueError without a file."""
    fields = dict(_FIELD.findall(text))
    if "filename" not in fields:
        raise ValueError("modinfo: no filename in what it printed")
    return ModuleVersion(fields.get("version", ""), fields.get("srcversion", ""), fields["filename"])


def _kernel(facts: RebootFacts, reasons: list[Reason], unknown: list[str]) -> None:
    if facts.own_modules.value is False:
        what = f"the running kernel {facts.running} is no longer installed: no module can be loaded"
        reasons.append(Reason(KERNEL, facts.running, what))
    elif facts.default.value is None:
        unknown.append("" if facts.default.missing else facts.default.why)
    elif facts.default.value != facts.running:
        what = f"{facts.running} runs, {facts.default.value} is installed and boots next"
        reasons.append(Reason(KERNEL, facts.default.value, what))


def _modules(facts: RebootFacts, reasons: list[Reason], unknown: list[str], removed: bool) -> None:
    for watched in WATCHED:
        loaded = facts.loaded.get(watched.name)
        if loaded is None:
            continue
        installed = facts.installed.get(watched.name, Reading(None, "nobody looked"))
        if installed.value is None and installed.missing and removed:
            what = f"{watched.name} {loaded.shown()} is loaded, and was removed"
            reasons.append(Reason(MODULE, watched.name, what, watched.reload))
        elif installed.value is None:
            # Its file may be gone from the running kernel's tree: DKMS built for another one.
            unknown.append(f"{watched.name} is loaded, and its file cannot be asked for ({installed.why})")
        elif _differ(loaded, installed.value):
            reasons.append(_stale(watched, loaded, installed.value))
    wanted = facts.installed.get(RIVAL)
    if ITS_RIVAL in facts.loaded and wanted is not None and wanted.value is not None:
        reasons.append(Reason(MODULE, ITS_RIVAL, f"{ITS_RIVAL} is loaded and holds the GPUs, {RIVAL} is installed"))


def _stale(watched: Watched, loaded: ModuleVersion, installed: ModuleVersion) -> Reason:
    was, now = loaded.shown(), installed.shown()
    if was == now:
        was, now = f"{was} (another build)", f"{now} ({installed.filename})"
    return Reason(MODULE, watched.name, f"{watched.name} {was} is loaded, {now} is installed", watched.reload)


def _differ(loaded: ModuleVersion, installed: ModuleVersion) -> bool:
    """A build is told by srcversion; by version where one of both has no srcversion."""
    if installed.filename == _BUILT_IN:
        return False
    if loaded.srcversion and installed.srcversion:
        return loaded.srcversion != installed.srcversion
    return loaded.version != installed.version


def _argument(late: str) -> str:
    state = "is not yet on" if late.startswith("+") else "is still on"
    return f"{late[1:]} {state} the kernel's command line"
