# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings as systemd and modprobe will read them: all of their files, in their order."""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Sequence

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from .facts import KeptOut, SysctlLine, UnitFiles

MASKED = "/dev/null"
CMDLINE = "/proc/cmdline"
# Of two files of one name the one in the first folder counts. Sources: systemd.unit(5), systemd-system.conf(5),
# modprobe.d(5).
UNITS = tuple(f"{place}/systemd/system" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"))
# A package's own file: the next upgrade writes it anew.
PACKAGED = ("/usr/lib/", "/lib/")
MANAGER_FILE = "/etc/systemd/system.conf"
MANAGER = tuple(f"{place}/systemd/system.conf.d" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
MODPROBE = tuple(f"{place}/modprobe.d" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"))
# What is kept of a unit's files.
_KEYS = re.compile(r"ExecStart|(?:Default)?Limit[A-Z]{1,20}")
_ARGUMENT = re.compile(r"(?:^|\s)(?:modprobe\.blacklist|module_blacklist)=(\S+)")
# A command of `install` that has the module loaded after all.
_LOADS = re.compile(r"\b(?:modprobe|insmod|kmod)\b")


def files(evidence: Evidence, folders: Iterable[str]) -> Reading[list[str]]:
    """The files of drop-in folders: in the order of their names, and of two of one name the one in the first folder.
    One that is a link to /dev/null takes the others out."""
    found: dict[str, str] = {}
    for folder in folders:
        names = ask.names(evidence, folder)
        if names.value is None and not names.missing:
            return Reading(None, names.why)
        for name in names.value or ():
            if name.endswith(".conf"):
                found.setdefault(name, f"{folder}/{name}")
    paths = [found[name] for name in sorted(found)]
    return Reading([path for path in paths if ask.link(evidence, path).value != MASKED])


def settings(evidence: Evidence, paths: Iterable[str]) -> Reading[tuple[SysctlLine, ...]]:
    """What these files of systemd's set of limits and programs, in their order."""
    found = []
    for path in paths:
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for line in (text.value or "").replace("\\\n", " ").split("\n"):
            key, equals, value = line.strip().partition("=")
            if equals and _KEYS.fullmatch(key.rstrip()):
                said = " ".join(value.split())
                found.append(SysctlLine(key.rstrip(), said, path, f"{key.rstrip()}={said}"))
    return Reading(tuple(found))


def unit(evidence: Evidence, names: Sequence[str]) -> Reading[UnitFiles]:
    """A unit by its file and drop-ins, by all of its names; missing where there is none, or where it is masked."""
    present: list[str] = []
    for path in (f"{folder}/{name}" for folder in UNITS for name in names):
        text = ask.text(evidence, path)
        if text.known:
            present.append(path)
        elif ask.link(evidence, path).value == MASKED:
            if not present:
                break
        elif not text.missing:
            return Reading(None, text.why)
    if not present:
        return Reading(None, f"no unit {names[0]}", True)
    # Also of its name's beginning: of a-b.service a-.service.d.
    own = [f"{folder}/{part}.d" for name in names for folder in UNITS for part in (name, *_beginnings(name))]
    dropins = files(evidence, [*own, *(f"{folder}/service.d" for folder in UNITS)])
    packaged = settings(evidence, [path for path in present if path.startswith(PACKAGED)][:1])
    if dropins.value is None or packaged.value is None:
        return Reading(None, dropins.why or packaged.why)
    programs = [program(line.value) for line in packaged.value if line.key == "ExecStart"]
    lines = settings(evidence, (present[0], *dropins.value))
    return lines.map(lambda found: UnitFiles(names[0], next(iter(programs), ""), found))


def _beginnings(name: str) -> Iterator[str]:
    stem, _dot, kind = name.rpartition(".")
    for dash in reversed([at for at, letter in enumerate(stem) if letter == "-"]):
        yield f"{stem[: dash + 1]}.{kind}"


def manager(evidence: Evidence) -> Reading[UnitFiles]:
    """systemd's own settings, what it gives to every unit."""
    paths = files(evidence, MANAGER)
    if paths.value is None:
        return Reading(None, paths.why)
    return settings(evidence, (MANAGER_FILE, *paths.value)).map(lambda found: UnitFiles("systemd", "", found))


def program(command: str) -> str:
    """The name of the program that a line of ExecStart begins with, without systemd's marks."""
    return command.split(" ")[0].lstrip("-@:+!|").rpartition("/")[2]


def kept_out(evidence: Evidence) -> Reading[dict[str, KeptOut]]:
    """By module, what keeps it from being loaded: an `install` that loads nothing, a blacklist, an argument."""
    paths = files(evidence, MODPROBE)
    if paths.value is None:
        return Reading(None, paths.why)
    installs: dict[str, KeptOut] = {}
    found: dict[str, KeptOut] = {}
    for path in paths.value:
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for line in (text.value or "").replace("\\\n", " ").split("\n"):
            words = line.split()
            if len(words) < 2 or words[0] not in ("install", "blacklist", "alias"):
                continue
            said = KeptOut(path, " ".join(words), never=words[0] == "install")
            name = words[1].replace("-", "_")
            if words[0] == "install":
                installs.setdefault(name, said)  # modprobe takes the first
            elif words[0] == "blacklist" or words[2:3] == ["off"]:
                found.setdefault(name, said)
    for argument in _ARGUMENT.findall(ask.text(evidence, CMDLINE).value or ""):
        for name in argument.split(","):
            found.setdefault(name.replace("-", "_"), KeptOut(CMDLINE, f"blacklist={argument}"))
    commands = {name: " ".join(said.line.split()[2:]) for name, said in installs.items()}
    found.update({name: said for name, said in installs.items() if not _LOADS.search(commands[name])})
    return Reading(found)
