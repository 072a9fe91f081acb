# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather which kernel modules there are, and the device files of RDMA."""

from __future__ import annotations

import re

from ..._data import rdma_modules
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._ground.text import ParseError
from ..._parse import lsmod
from .facts import ModuleFacts

MODULES = "/sys/module"
INFINIBAND = "/sys/class/infiniband"
VERBS = "/sys/class/infiniband_verbs"
DEVICES = "/dev/infiniband"
RDMA_CM = "rdma_cm"
# Where the tools that set up interfaces keep one file each; their text may hold secrets.
_INTERFACES = (
    "/etc/NetworkManager/system-connections",
    "/etc/sysconfig/network-scripts",
    "/etc/sysconfig/network",
    "/etc/network/interfaces.d",
)
_IPOIB = re.compile(r"(?:ifcfg-)?(ib[a-z0-9]{1,12})(?:\.nmconnection|\.cfg)?")
_MODPROBE = ("/usr/lib/modprobe.d", "/run/modprobe.d", "/etc/modprobe.d")
# `install` runs a program in place of the module: one that does nothing keeps it out by any name.
_KEPT_OUT = re.compile(
    r"^[ \t]*(?:blacklist[ \t]+([\w-]{1,64})|install[ \t]+([\w-]{1,64})[ \t]+(?:/usr)?/bin/(?:false|true))[ \t]*$",
    re.MULTILINE,
)
_UVERBS = re.compile(r"uverbs[0-9]{1,4}")


def observe(evidence: Evidence) -> ModuleFacts:
    """Modules by two sources, as neither shows all; device files where there are RDMA devices."""
    devices = _there(ask.names(evidence, INFINIBAND))
    verbs = ask.names(evidence, VERBS).map(lambda names: tuple(name for name in names if _UVERBS.fullmatch(name)))
    files = [*(verbs.value or ()), RDMA_CM] if devices.value else []
    listed = ask.command(evidence, "lsmod", _names)
    known = ask.names(evidence, MODULES).map(tuple)
    rivals = [name for name in rdma_modules.RIVALS if name in (*(listed.value or ()), *(known.value or ()))]
    return ModuleFacts(
        listed=listed,
        known=known,
        there={
            entry.device: _exists(evidence, entry.device)
            for entry in (*rdma_modules.CORE, *rdma_modules.USERLAND)
            if entry.device
        },
        devices=devices,
        verbs=verbs,
        modes={name: ask.mode(evidence, f"{DEVICES}/{name}") for name in files},
        ipoib=_ipoib(evidence),
        kept_out=_kept_out(evidence) if rivals else {},
    )


def _kept_out(evidence: Evidence) -> dict[str, str]:
    """The modules that a file of modprobe.d keeps from being loaded by themselves, and the file."""
    found: dict[str, str] = {}
    for folder in _MODPROBE:
        for name in ask.names(evidence, folder).value or ():
            path = f"{folder}/{name}"
            if name.endswith(".conf"):
                for words in _KEPT_OUT.findall(ask.text(evidence, path).value or ""):
                    # The kernel knows no hyphen in the name of a module, and modprobe takes both.
                    found["".join(words).replace("-", "_")] = path
    return found


def _names(text: str) -> tuple[str, ...]:
    """What is loaded; ParseError where the list does not tell what is not."""
    parsed = lsmod.parse(text)
    if parsed.unread:
        raise ParseError("lsmod", 0, "", parsed.cut)
    if not parsed.whole:
        why = "neither a header nor ib_core: somebody picked lines, a missing module proves nothing"
        raise ParseError("lsmod", 0, "", why)
    return tuple(sorted(parsed.names))


def _there(names: Reading[list[str]]) -> Reading[tuple[str, ...]]:
    """No such directory means that the kernel has none of these."""
    return Reading(()) if names.missing else names.map(tuple)


def _exists(evidence: Evidence, directory: str) -> Reading[bool]:
    names = ask.names(evidence, directory)
    return Reading(False) if names.missing else names.map(lambda _names: True)


def _ipoib(evidence: Evidence) -> Reading[tuple[str, ...]]:
    found: set[str] = set()
    for directory in _INTERFACES:
        names = ask.names(evidence, directory)
        if names.value is None and not names.missing:
            return Reading(None, names.why)
        matches = [_IPOIB.fullmatch(name) for name in names.value or ()]
        found.update(match.group(1) for match in matches if match)
    return Reading(tuple(sorted(found)))
