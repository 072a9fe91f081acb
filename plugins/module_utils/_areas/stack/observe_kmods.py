# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the kernel that boots next has of the modules that this host runs with."""

from __future__ import annotations

import re

from ..._data.rdma_modules import ASKED_FOR
from ..._evidence import ask as _ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import dkms_status, modules_dep
from ..host import boot
from .kmods_facts import KernelTree, KmodFacts, Objects, akin, ours

RUNNING = "/proc/sys/kernel/osrelease"
DKMS = "/var/lib/dkms"
LOADED = "/sys/module"
# Of the letters in a module's mark (taint).
_FOREIGN, _LIVEPATCH = "O", "K"
_OS_RELEASE = re.compile(r"""^(?:ID|ID_LIKE)=["']?([a-z0-9._ -]{1,80})""", re.MULTILINE)
_OBJECT = re.compile(r"(.{1,120})\.ko(?:\.(?:gz|xz|zst))?")


def observe(evidence: Evidence) -> KmodFacts:
    """Which kernel boots next; where that is another, everything about its modules."""
    running = _ask.text(evidence, RUNNING)
    if not running.value:
        return KmodFacts(kernels=Reading(None, running.why or f"{RUNNING}: it is empty"))
    following = boot.candidates(evidence)
    kernels = following.kernels.map(lambda found: tuple(item for item in found if item != running.value))
    if not kernels.value:
        return KmodFacts(running.value, kernels, following.because)
    dkms = _ask.optional(evidence, "dkms_status", dkms_status.parse)
    if dkms.missing:
        dkms = Reading(())
    foreign = _foreign(evidence, running.value)
    packages = dict.fromkeys((dkm.name, dkm.version) for dkm in dkms.value or ())
    objects = tuple(
        Objects(name, version, kernel, _built(evidence, f"{DKMS}/{name}/{version}/{kernel}"))
        for name, version in packages
        for kernel in (running.value, *kernels.value)
    )
    wanted = {name for entry in objects for name in entry.modules.value or ()}
    wanted.update(foreign.value or ())
    return KmodFacts(
        running.value,
        kernels,
        following.because,
        foreign,
        dkms,
        objects,
        tuple(_tree(evidence, kernel, wanted) for kernel in kernels.value),
        systems(evidence),
    )


def systems(evidence: Evidence) -> tuple[str, ...]:
    """The names of the distribution and of those that it is like."""
    reported = _ask.text(evidence, "/etc/os-release").value or ""
    return tuple(dict.fromkeys(word for line in _OS_RELEASE.findall(reported) for word in line.split()))


def _dep(evidence: Evidence, kernel: str) -> Reading[dict[str, str]]:
    return _ask.whole(evidence, f"{boot.MODULES}/{kernel}/modules.dep", modules_dep.parse)


def _foreign(evidence: Evidence, running: str) -> Reading[dict[str, str]]:
    """Loaded modules that did not come with the kernel: by their files, or by the mark that they
    leave on the kernel where those are gone."""
    loaded = _ask.names(evidence, LOADED)
    if loaded.value is None:
        return Reading(None, loaded.why)
    files = _dep(evidence, running)
    if files.value is not None:
        known = files.value
    elif files.missing:
        known = {}
    else:
        return Reading(None, files.why)
    found = {name: known[name] for name in loaded.value if not ours(known.get(name, "kernel/"))}
    # Debian's nvidia lies in nvidia-current.ko.
    kin = {akin(name) for name, path in known.items() if not ours(path)}
    for name in loaded.value:
        # An agent may have loaded its own from anywhere: with the tree there, only ours count.
        if name in known or akin(name) in kin or (known and name not in ASKED_FOR):
            continue
        mark = _ask.text(evidence, f"{LOADED}/{name}/taint").value or ""
        if _FOREIGN in mark and _LIVEPATCH not in mark:
            found[name] = ""
    return Reading(found)


def _built(evidence: Evidence, home: str) -> Reading[tuple[str, ...]]:
    """The modules below VERSION/KERNEL/ARCH/module."""
    arches = _ask.names(evidence, home)
    if arches.value is None:
        return Reading(None, arches.why, arches.missing)
    found: list[str] = []
    for arch in arches.value:
        names = _ask.names(evidence, f"{home}/{arch}/module")
        if names.value is None and not names.missing:
            return Reading(None, names.why)
        matches = [_OBJECT.fullmatch(name) for name in names.value or ()]
        found += [match.group(1).replace("-", "_") for match in matches if match]
    return Reading(tuple(sorted(set(found)))) if found else Reading(None, f"{home}: empty", True)


def _tree(evidence: Evidence, kernel: str, wanted: set[str]) -> KernelTree:
    def some(files: dict[str, str]) -> dict[str, str]:
        return {name: files[name] for name in sorted(wanted) if name in files}

    return KernelTree(kernel, headers(evidence, kernel), _dep(evidence, kernel).map(some))


def headers(evidence: Evidence, kernel: str) -> Reading[bool]:
    """Whether modules can be built for a kernel."""
    # The Makefile that every build begins with; the link to it outlives the package.
    return _ask.there(evidence, f"{boot.MODULES}/{kernel}/build/Makefile")
