# SPDX-License-Identifier: GPL-3.0-or-later
"""What modprobe.d, modules-load.d and the kernel's command line say about modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sandbox.hardware.modfile import underscored
from sandbox.hardware.tree import below

# Of two files with one name the first directory's counts, as with systemd and kmod.
_ABOVE = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
_CMDLINE = "modprobe.blacklist="


@dataclass
class Config:
    """``blacklist``: not loaded by the hardware's wish; ``blocked``: not at all, with the command
    that takes its place; ``after``: loaded once this one is; ``before``: loaded ahead of it."""

    blacklist: set[str] = field(default_factory=set)
    blocked: dict[str, str] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    after: dict[str, list[str]] = field(default_factory=dict)


def load(root: Path) -> Config:
    """Everything that modprobe would read."""
    found = Config()
    for path in _files(root, "modprobe.d"):
        for line in _lines(path):
            _take(found, line.split())
    cmdline = below(root, "/proc/cmdline")
    for word in cmdline.read_text().split() if cmdline.is_file() else ():
        if word.startswith(_CMDLINE):
            found.blacklist |= {underscored(entry) for entry in word[len(_CMDLINE) :].split(",")}
    return found


def wanted_at_boot(root: Path) -> list[str]:
    """The modules that modules-load.d and /etc/modules name."""
    paths = [*_files(root, "modules-load.d")]
    classic = below(root, "/etc/modules")
    if classic.is_file():
        paths.append(classic)
    return [underscored(line.split()[0]) for path in paths for line in _lines(path)]


def _take(found: Config, words: list[str]) -> None:
    if len(words) < 2:
        return
    name = underscored(words[1])
    if words[0] == "blacklist" or (words[0] == "alias" and words[2:] == ["off"]):
        found.blacklist.add(name)
    elif words[0] == "install" and words[2:3] and words[2].rpartition("/")[2] in ("false", "true"):
        found.blocked[name] = words[2]
    elif words[0] == "softdep":
        kind = found.before
        for word in words[2:]:
            if word in ("pre:", "post:"):
                kind = found.before if word == "pre:" else found.after
            else:
                kind.setdefault(name, []).append(underscored(word))


def _files(root: Path, directory: str) -> list[Path]:
    found: dict[str, Path] = {}
    for above in _ABOVE:
        home = below(root, f"{above}/{directory}")
        for path in sorted(home.glob("*.conf")) if home.is_dir() else ():
            found.setdefault(path.name, path)
    return [found[name] for name in sorted(found)]


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(errors="replace")
    except OSError:  # a link to nowhere, like the one to /dev/null that masks a file
        return []
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(("#", ";"))]
