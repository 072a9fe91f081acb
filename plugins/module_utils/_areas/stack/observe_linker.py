# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the linker really loads: which file of each library of NVIDIA's driver, and what into every process."""

from __future__ import annotations

import posixpath
import re

from ..._data import rdma_packages
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._parse import ldconfig
from .facts import Linker, Loaded

PRELOAD = "/etc/ld.so.preload"
FOLDER = "/etc/ld.so.conf.d"
# Of the driver's libraries the name ends in .so.1, and the file's in the driver's release.
_DRIVERS = re.compile(r"(lib(?:cuda|nv)[a-z-]{0,60}\.so)\.1")
_RELEASE = re.compile(r"(lib[a-z-]{1,64}\.so)\.([0-9]{3,4}(?:\.[0-9]{1,6}){1,3})")
_OTHER = ("libc6",)  # those of 32 bits say no more
# Folders that hold the system's own libraries, also by the names that they have where /lib leads to /usr/lib.
OWN = (
    *rdma_packages.LIBRARY_FOLDERS,
    *(folder[len("/usr") :] for folder in rdma_packages.LIBRARY_FOLDERS if folder.startswith("/usr/lib")),
)


def observe(evidence: Evidence) -> Linker:
    """By the linker's own list, which has its folders in order; of two of one name the first is taken."""
    listed = ask.optional(evidence, "ldconfig", ldconfig.parse)
    first: dict[str, str] = {}
    for entry in listed.value or ():
        if _DRIVERS.fullmatch(entry.name) and entry.flags != _OTHER:
            first.setdefault(entry.name, entry.path)
    found = listed.map(lambda _every: tuple(_loaded(evidence, name, path) for name, path in first.items()))
    return Linker(found, ask.text(evidence, PRELOAD))


def _loaded(evidence: Evidence, name: str, path: str) -> Loaded:
    folder = posixpath.dirname(path)
    target = posixpath.basename(ask.link(evidence, path).value or "")
    # What lies in the linker's own folders is thousands of names, and led to by links.
    names = [] if folder in OWN else ask.names(evidence, folder).value or []
    for file in (target, *names):
        match = _RELEASE.fullmatch(file)
        if match and f"{match.group(1)}.1" == name:
            return Loaded(name, path, match.group(2), _led_by(evidence, folder))
    return Loaded(name, path)


def _led_by(evidence: Evidence, folder: str) -> str:
    """The file that has the linker look into a folder; "" where it is one of its own."""
    if folder in OWN:
        return ""
    for name in ask.names(evidence, FOLDER).value or ():
        path = f"{FOLDER}/{name}"
        lines = (ask.text(evidence, path).value or "").split("\n") if name.endswith(".conf") else ()
        if folder in (line.partition("#")[0].strip().rstrip("/") for line in lines):
            return path
    return ""
