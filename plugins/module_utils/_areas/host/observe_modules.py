# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather which kernel modules there are, and the device files of RDMA."""

from __future__ import annotations

import re

from ..._data import rdma_modules
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._ground.text import ParseError
from ..._parse import lsmod, modules_dep
from . import dropins
from .facts import ModuleFacts

MODULES = "/sys/module"
INFINIBAND = "/sys/class/infiniband"
VERBS = "/sys/class/infiniband_verbs"
DEVICES = "/dev/infiniband"
RDMA_CM = "rdma_cm"
KERNEL = "/proc/sys/kernel/osrelease"
# Where the tools that set up interfaces keep one file each; their text may hold secrets.
_INTERFACES = (
    "/etc/NetworkManager/system-connections",
    "/etc/sysconfig/network-scripts",
    "/etc/sysconfig/network",
    "/etc/network/interfaces.d",
)
_IPOIB = re.compile(r"(?:ifcfg-)?(ib[a-z0-9]{1,12})(?:\.nmconnection|\.cfg)?")
_UVERBS = re.compile(r"uverbs[0-9]{1,4}")


def observe(evidence: Evidence) -> ModuleFacts:
    """Modules by two sources, as neither shows all; device files where there are RDMA devices."""
    devices = _there(ask.names(evidence, INFINIBAND))
    verbs = ask.names(evidence, VERBS).map(lambda names: tuple(name for name in names if _UVERBS.fullmatch(name)))
    files = [*(verbs.value or ()), RDMA_CM] if devices.value else []
    listed = ask.command(evidence, "lsmod", _names)
    known = ask.names(evidence, MODULES).map(tuple)
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
        kept_out=dropins.kept_out(evidence),
        rivals=_of_rivals(evidence, ask.text(evidence, KERNEL).value or ""),
    )


def _of_rivals(evidence: Evidence, kernel: str) -> Reading[tuple[str, ...]]:
    """Those that modprobe would find."""
    if not kernel:
        return Reading(None, "the running kernel is not known")
    found = ask.whole(evidence, f"/lib/modules/{kernel}/modules.dep", modules_dep.parse)
    return found.map(lambda files: tuple(name for name in rdma_modules.RIVALS if name in files))


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
