# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NCCL inside a container: its library, and which settings reach it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator

from ..._data.nccl_library import FOLDERS
from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..._ground.text import clean_lines
from ..._nccl.host import NcclHost
from ..._nccl.release import without_code
from ..._parse._container_facts import Inside
from ..._parse.ip_addr import Address, Interface
from ..host import check_scope
from ..host.check_scope import Scope
from ..nccl import check_harm
from .check_view import CONTAINER, View

_LIBRARY, _CONF, _ENV = "container.nccl.library", "container.nccl.conf", "container.nccl.env"
_SONAME = "libnccl.so.2"
_RELEASE = re.compile(r"libnccl\.so\.([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})")
_EXPECTED = "nothing that switches off what the host has"


def judge(view: View) -> Iterator[Check]:
    """container.nccl.*"""
    gpus = check_scope.with_kernel(view.machine).then(check_scope.with_gpu(view.machine))
    if view.built:
        made = "the image is made of the host's own files: a job's image brings its NCCL along"
        gpus = Scope(made)
    yield from view.scoped(_LIBRARY, gpus, lambda inside: _library(view, inside))
    yield from view.each(_CONF, Scope(), lambda who, inside: _conf(view, who, inside))
    yield from view.scoped(_ENV, Scope(), lambda inside: _environment(view, inside))


def _library(view: View, inside: Inside) -> Check:
    found = [library for library in inside.libraries if library.rpartition("/")[2].startswith(_SONAME)]
    if not found:
        return failed(_LIBRARY, CONTAINER, "none", _SONAME, CAPABILITY)
    packages = [package.version for package in inside.packages or () if package.name.startswith("libnccl")]
    names = [item.rpartition("/")[2] for item in found]
    releases = [entry.group(1) for name in names if (entry := _RELEASE.fullmatch(name))]
    version = next(iter((*releases, *packages)), "of no release that its name tells")
    observed = f"{version}, {found[0]}"
    # A copy elsewhere, as pip brings it, is of a release that no package tells.
    told = bool(releases) or all(item.rpartition("/")[0] in FOLDERS for item in found)
    cause = without_code(version, view.machine.architectures) if told else ""
    if not cause:
        return passed(_LIBRARY, CONTAINER, observed, _SONAME, CAPABILITY)
    remedy = "take an image with a newer NCCL, or install one in it (libnccl2)"
    check = failed(_LIBRARY, CONTAINER, observed, "code for the host's GPUs", CAPABILITY, cause=cause, remedy=remedy)
    return replace(check, severity="error")


def _conf(view: View, subject: str, inside: Inside) -> Check:
    host = view.facts.conf
    if host.value is None and not host.missing:
        return unknown(_CONF, subject, host.why or "nobody looked at the host's file")
    if host.value is None:
        if inside.conf is None and not inside.conf_denied:
            return skipped(_CONF, subject, f"no {SYSTEM_FILE}, on the host and in the container")
        cause = "the image brings a file of its own, which nobody wrote for this host"
        return failed(_CONF, subject, "a file of its own", "no file", CAPABILITY, cause=cause)
    expected = "the host's file"
    if inside.conf_denied:
        cause = f"this user may not read {SYSTEM_FILE}, and NCCL then goes on without it"
        remedy = f"`chmod 0644 {SYSTEM_FILE}` on the host"
        return failed(_CONF, subject, "permission denied", expected, CAPABILITY, cause=cause, remedy=remedy)
    if inside.conf is None:
        cause = "the host's file was not put into the container: none of its settings holds there"
        return failed(_CONF, subject, "no file", expected, CAPABILITY, cause=cause)
    if _meant(inside.conf) == _meant(clean_lines(host.value)):
        return passed(_CONF, subject, f"{len(_meant(inside.conf))} lines", expected, CAPABILITY)
    cause = "the container has another file in its place: the image's own, or an old mount"
    mine = next(iter(_meant(inside.conf)), "an empty file")
    differs = [entry for entry in _meant(inside.conf) if entry not in _meant(clean_lines(host.value))]
    return failed(_CONF, subject, f"another file: {(differs or [mine])[0][:80]}", expected, CAPABILITY, cause=cause)


def _meant(lines: list[str] | tuple[str, ...]) -> list[str]:
    """The lines that are no comment, without the blanks around them."""
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def _environment(view: View, inside: Inside) -> Check:
    given = {name: value for name, value in inside.environment.items() if name.startswith("NCCL_")}
    if not given:
        return passed(_ENV, CONTAINER, "no variable of NCCL", _EXPECTED, CAPABILITY)
    if view.facts.nccl is None:
        return unknown(_ENV, CONTAINER, "nobody looked at what the host has")
    found = list(check_harm.of_environment(given, _seen(view.facts.nccl, inside)))
    if found:
        entry = replace(found[0], id=_ENV, subject=CONTAINER)
        remedy = f"take {found[0].subject} out of the image's ENV, or give the job its own value"
        return replace(entry, remedy=remedy if entry.result == "fail" else entry.remedy)
    names = ", ".join(sorted(given))
    return passed(_ENV, CONTAINER, f"{names}: nothing that harms", _EXPECTED, CAPABILITY)


def _seen(host: NcclHost, inside: Inside) -> NcclHost:
    """The host as the container sees it: its own interfaces, and the devices that it has."""
    known = {interface.name: interface for interface in host.interfaces.value or ()}
    mine = tuple(known.get(name) or _unlike(name) for name in inside.interfaces)
    ports = host.ports.map(lambda found: tuple(port for port in found if port.device in inside.rdma))
    return replace(
        host, interfaces=Reading(mine) if mine else host.interfaces, ports=ports if inside.rdma else host.ports
    )


def _unlike(name: str) -> Interface:
    """One that the host does not have: what address the engine gave it, the probe does not tell."""
    return Interface(name, "", up=True, running=True, mtu=0, addresses=(Address(4, "192.0.2.1", 32, "global"),))
