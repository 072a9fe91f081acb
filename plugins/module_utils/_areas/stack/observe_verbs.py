# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the user space of RDMA: libibverbs, its providers and their list, librdmacm."""

from __future__ import annotations

import posixpath
import re
from typing import Iterable

from ..._data import host_units, rdma_packages
from ..._data.container import PROVIDERS
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._parse import ibv_devinfo, ldconfig
from .facts import Verbs

DEVICES = "/sys/class/infiniband"
UVERBS = "/sys/class/infiniband_verbs"
VERBS, RDMACM = "libibverbs.so.1", "librdmacm.so.1"
# Where providers are named; the second is that of a libibverbs built by hand. Source: rdma-core,
# libibverbs/dynamic_driver.c (IBV_CONFIG_DIR).
LISTS = ("/etc/libibverbs.d", "/usr/local/etc/libibverbs.d")
_PLUGIN = re.compile(r"lib([A-Za-z0-9_]{1,40})-rdmav[0-9]{1,3}\.so")
_NAMED = re.compile(r"^[ \t]*driver[ \t]+(\S{1,400})", re.MULTILINE)
_WARNING = "libibverbs: Warning:"
_NOBODY = "No IB devices found"


def libraries(evidence: Evidence, name: str) -> Reading[tuple[str, ...]]:
    """Every library of this name in the folders that the linker may look into; the linker's own
    list is asked where none of them has it."""
    found = []
    for folder in rdma_packages.LIBRARY_FOLDERS:
        path = f"{folder}/{name}"
        if ask.link(evidence, folder).known:
            continue  # another name for a folder that is looked into anyway
        there = ask.there(evidence, path)
        if there.value is None:
            return Reading(None, there.why)
        if there.value:
            found.append(path)
    return Reading(tuple(found)) if found else _cached(evidence, name)


def observe(evidence: Evidence, devices: Iterable[str], verbs: Reading[tuple[str, ...]]) -> Verbs:
    """``verbs``: every libibverbs."""
    folders = [posixpath.dirname(path) for path in verbs.value or ()]
    named = _named(evidence)
    providers = _providers(evidence, folders)
    wanted = set(PROVIDERS.values()).intersection(named.value or ())
    if providers.value is not None and wanted.difference(providers.value):
        providers = _elsewhere(evidence, folders, providers.value)
    return Verbs(
        rdmacm=libraries(evidence, RDMACM),
        named=named,
        providers=providers,
        drivers=_drivers(evidence, devices),
        kubelet=ask.there(evidence, host_units.KUBELET),
        refused=_refused(evidence),
    )


def _cached(evidence: Evidence, name: str) -> Reading[tuple[str, ...]]:
    """What the linker's own list has by this name and the disk as well: the list may be old."""
    listed = ask.optional(evidence, "ldconfig", ldconfig.parse)
    if listed.value is None:
        return Reading(()) if listed.missing else Reading(None, listed.why)
    found = []
    for path in dict.fromkeys(entry.path for entry in listed.value if entry.name == name):
        there = ask.there(evidence, path)
        if there.value is None:
            return Reading(None, there.why)
        if there.value:
            found.append(path)
    return Reading(tuple(found))


def _named(evidence: Evidence) -> Reading[dict[str, str]]:
    """The providers that are to be loaded, and the file that names each; () without a list."""
    found: dict[str, str] = {}
    for folder in LISTS:
        names = ask.names(evidence, folder)
        if names.value is None and not names.missing:
            return Reading(None, names.why)
        for name in names.value or ():
            # libibverbs passes over these.
            if name.startswith(".") or name.endswith("~"):
                continue
            text = ask.text(evidence, f"{folder}/{name}")
            if text.value is None and not text.missing:
                return Reading(None, text.why)
            for said in _NAMED.findall(text.value or ""):
                driver = posixpath.basename(said)
                driver = driver[len("lib") :] if said.startswith("/") and driver.startswith("lib") else driver
                found.setdefault(driver, f"{folder}/{name}")
    return Reading(found)


def _plugins(evidence: Evidence, folder: str) -> Reading[set[str]]:
    names = ask.names(evidence, folder)
    if names.missing:
        return Reading(set())
    return names.map(lambda found: {match.group(1) for name in found if (match := _PLUGIN.fullmatch(name))})


def _providers(evidence: Evidence, folders: list[str]) -> Reading[tuple[str, ...]]:
    """Those in the folder of each libibverbs' own."""
    found: set[str] = set()
    for folder in folders:
        mine = _plugins(evidence, f"{folder}/libibverbs")
        if mine.value is None:
            return Reading(None, mine.why)
        found |= mine.value
    return Reading(tuple(sorted(found)))


def _elsewhere(evidence: Evidence, folders: list[str], known: tuple[str, ...]) -> Reading[tuple[str, ...]]:
    """And those beside it, which old releases and builds by hand have: the linker finds them."""
    found = set(known)
    for folder in dict.fromkeys((*folders, *rdma_packages.LIBRARY_FOLDERS)):
        mine = _plugins(evidence, folder)
        if mine.value is None:
            return Reading(None, mine.why)
        found |= mine.value
    listed = ask.optional(evidence, "ldconfig", ldconfig.parse)
    for entry in listed.value or ():
        match = _PLUGIN.fullmatch(entry.name)
        if match and ask.there(evidence, entry.path).value:
            found.add(match.group(1))
    return Reading(tuple(sorted(found)))


def _drivers(evidence: Evidence, devices: Iterable[str]) -> Reading[dict[str, str]]:
    """The kernel driver below each RDMA device that has one; subfunctions' is mlx5_core.sf."""
    found = {}
    for device in devices:
        link = ask.link(evidence, f"{DEVICES}/{device}/device/driver")
        if link.value is None and not link.missing:
            return Reading(None, link.why)
        if link.value:
            found[device] = posixpath.basename(link.value).partition(".")[0]
    return Reading(found)


def _refused(evidence: Evidence) -> Reading[str]:
    """What libibverbs said where it took no device although the kernel offers some; "" where it
    took one; missing where there is nobody to ask."""
    names = ask.names(evidence, UVERBS)
    listed = [name for name in names.value or () if name.startswith("uverbs")]
    # libibverbs passes by a device that does not tell its version.
    version = ask.text(evidence, f"{UVERBS}/{listed[0]}/abi_version") if listed else names.map(lambda _names: "")
    if version.value is None and not version.missing:
        return Reading(None, version.why)
    if not version.value:
        return Reading(None, f"{UVERBS}: no device in it", missing=True)
    try:
        output = evidence.run("ibv_devinfo")
    except Unavailable as exc:
        return Reading(None, str(exc), "not installed" in exc.reason)
    if _NOBODY not in f"{output.stdout}\n{output.stderr}":
        return ask.command(evidence, "ibv_devinfo", ibv_devinfo.parse).map(lambda _found: "")
    warned = [line.strip() for line in output.stderr.split("\n") if line.startswith(_WARNING)]
    return Reading(warned[0] if warned else _NOBODY)
