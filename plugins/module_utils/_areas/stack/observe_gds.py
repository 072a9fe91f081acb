# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what is to be known of GPUDirect Storage, where the site or the host speaks of it."""

from __future__ import annotations

import posixpath
import re

from ..._data import gds
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._expect.expectations import Expectations
from ..._ground.reading import Reading
from ..._ground.text import ParseError
from ..._parse import cufile_json, gdscheck, ip_addr, mounts
from ..._parse.mounts import Mount
from .gds_facts import Gds, GdsConf, GdsMount

MODULE = "/sys/module/nvidia_fs"
PROC = "/proc/driver/nvidia-fs"
MOUNTS = "/proc/self/mounts"
_DEVICES = "/sys/class/infiniband"
_BLOCK = "/sys/class/block"
_VERSION = re.compile(r"version: ([0-9]{1,4}\.[0-9]{1,4})")
_HOOKED = re.compile(r"([a-z0-9_]{1,40}): ?.{0,80}")
# A thin volume, encrypted, on a partition of a RAID has six layers.
_LAYERS = 10
# Of what is mounted, so many devices are asked for their disks where nobody names mount points.
_ASKED = 64
_CONTROLLER = re.compile(r"(nvme[0-9]{1,5})(?:c[0-9]{1,5})?n[0-9]{1,5}(?:p[0-9]{1,5})?")


def observe(evidence: Evidence, expect: Expectations) -> Gds:
    """Nothing more than the sign where there is none."""
    there = ask.there(evidence, MODULE)
    conf = _conf(evidence)
    sign = _sign(expect, there, conf)
    if sign.value is None:
        return Gds(sign)
    points = expect.get("gds_mounts")
    if points is None:
        _below_all(evidence)
    named = conf.value is not None and conf.value.read is not None and conf.value.read.addresses
    return Gds(
        sign=sign,
        # Its status is not 0 where the platform is unfit; its words tell.
        tool=ask.optional(evidence, "gdscheck", gdscheck.parse, ok=None),
        conf=conf,
        loaded=_loaded(evidence, there),
        hooked=ask.file(evidence, f"{PROC}/modules", _hooked),
        modules=_modules(evidence),
        mounts=_mounts(evidence, points.value) if points else (),
        addresses=ask.command(evidence, "ip_addr", ip_addr.parse).map(_addresses) if named else Reading(),
        rdma=_rdma(evidence) if named else Reading(),
    )


def _sign(expect: Expectations, there: Reading[bool], conf: Reading[GdsConf]) -> Reading[str]:
    """Why; missing where neither the site nor the host speaks of it, and no value where nobody can tell."""
    said = [f"expect.{key}" for key in ("gds", "gds_mounts") if expect.get(key)]
    if said:
        return Reading(" and ".join(said))
    if there.value:
        return Reading("nvidia_fs is loaded")
    if conf.value and (conf.value.broken or (conf.value.read and conf.value.read.changed)):
        return Reading(f"{gds.CONF} is not as its package brings it")
    for reading in (there, conf):
        if reading.value is None and not reading.missing:
            return Reading(None, reading.why)
    return Reading(None, "neither the site nor the host speaks of GPUDirect Storage", True)


def _loaded(evidence: Evidence, there: Reading[bool]) -> Reading[str]:
    if there.value is None:
        return Reading(None, there.why)
    if not there.value:
        return Reading(None, f"{MODULE}: not loaded", True)
    version = ask.file(evidence, f"{PROC}/version", _version)
    return Reading(version.value, version.why)


def _conf(evidence: Evidence) -> Reading[GdsConf]:
    def read(text: str) -> GdsConf:
        try:
            return GdsConf(cufile_json.parse(text))
        except ParseError as exc:
            return GdsConf(broken=str(exc))

    return ask.text(evidence, gds.CONF).map(read)


def _version(text: str) -> str:
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError("names no version of nvidia-fs")
    return match.group(1)


def _hooked(text: str) -> tuple[str, ...]:
    found = [_HOOKED.fullmatch(line.strip()) for line in text.split("\n") if line.strip()]
    if not all(found):
        raise ValueError("not the names of modules with their versions")
    return tuple(match.group(1) for match in found if match)


def _modules(evidence: Evidence) -> Reading[tuple[str, ...]]:
    """Those of the routes' that are in the kernel."""
    loaded = ask.names(evidence, "/sys/module")
    wanted = [route.module for route in gds.ROUTES if route.module]
    return loaded.map(lambda names: tuple(name for name in wanted if name in names))


def _mounts(evidence: Evidence, points: tuple[str, ...]) -> tuple[GdsMount, ...]:
    every = ask.file(evidence, MOUNTS, mounts.parse)
    return tuple(_mount(evidence, point, every) for point in points)


def _below_all(evidence: Evidence) -> None:
    """Ask for what is below every file system on disks, as far as a bundle of this host goes: who judges it later may
    name mounts that nobody names now."""
    every = ask.file(evidence, MOUNTS, mounts.parse).value or ()
    for device in list(dict.fromkeys(mount.device for mount in every if mount.kind in gds.ON_DISK))[:_ASKED]:
        _disks(evidence, device)


def _mount(evidence: Evidence, point: str, every: Reading[tuple[Mount, ...]]) -> GdsMount:
    if every.value is None:
        return GdsMount(point, Reading(None, every.why))
    # Of what is mounted over another the last is the one that is seen.
    found = [mount for mount in every.value if mount.point == point and mount.kind != "autofs"]
    if not found:
        return GdsMount(point, Reading(None, f"{MOUNTS}: nothing is mounted at {point}", True))
    disks: Reading[dict[str, str]] = Reading()
    if found[-1].kind in gds.ON_DISK:
        disks = _disks(evidence, found[-1].device)
    return GdsMount(point, Reading(found[-1]), disks)


def _disks(evidence: Evidence, device: str) -> Reading[dict[str, str]]:
    """The disk below, or those of a RAID, a volume or both."""
    link = ask.link(evidence, device) if device.startswith("/dev/mapper/") else Reading(device)
    names = [posixpath.basename(link.value or device)]
    for _layer in range(_LAYERS):
        below = [_below(evidence, name) for name in names]
        unseen = next((reading for reading in below if reading.value is None), None)
        if unseen is not None:
            return Reading(None, unseen.why)
        above, names = names, list(dict.fromkeys(name for reading in below for name in reading.value or ()))
        if names == above:
            break
    else:
        return Reading(None, f"{device}: its disks are more than {_LAYERS} layers below")
    found = {}
    for name in names:
        controller = _CONTROLLER.fullmatch(name)
        if controller is None:
            found[name] = ""
            continue
        transport = ask.text(evidence, f"/sys/class/nvme/{controller.group(1)}/transport")
        if transport.value is None:
            return Reading(None, transport.why)
        found[name] = transport.value
    return Reading(found)


def _below(evidence: Evidence, name: str) -> Reading[list[str]]:
    """What a block device is made of: itself, where it is a disk."""
    if _CONTROLLER.fullmatch(name):
        return Reading([name])
    slaves = ask.names(evidence, f"{_BLOCK}/{name}/slaves")
    if slaves.value or not (slaves.known or slaves.missing):
        return slaves
    # The kernel has every device here: what is not (/dev/root) is another name of one that nobody can tell.
    place = ask.link(evidence, f"{_BLOCK}/{name}")
    if place.value is None:
        return Reading(None, place.why)
    whole = posixpath.basename(posixpath.dirname(place.value))
    return Reading([whole if whole and name.startswith(whole) else name])


def _addresses(interfaces: tuple[ip_addr.Interface, ...]) -> dict[str, str]:
    return {address.local: interface.name for interface in interfaces for address in interface.addresses}


def _rdma(evidence: Evidence) -> Reading[tuple[str, ...]]:
    """Every RDMA device, and the interfaces that its GIDs are of: a bond's and a VLAN's among them."""
    devices = ask.names(evidence, _DEVICES)
    if devices.value is None:
        return Reading(()) if devices.missing else Reading(None, devices.why)
    found = list(devices.value)
    for device in devices.value:
        own, ports = (ask.names(evidence, f"{_DEVICES}/{device}/{place}") for place in ("device/net", "ports"))
        folders = [f"{_DEVICES}/{device}/ports/{port}/gid_attrs/ndevs" for port in ports.value or ()]
        indexes = [ask.names(evidence, folder) for folder in folders]
        for reading in (own, ports, *indexes):
            if reading.value is None and not reading.missing:
                return Reading(None, reading.why)
        found += own.value or []
        for folder, listed in zip(folders, indexes):
            # The kernel refuses to read an index without a GID.
            upon = (ask.text(evidence, f"{folder}/{index}").value for index in listed.value or ())
            found += [name for name in upon if name]
    return Reading(tuple(dict.fromkeys(found)))
