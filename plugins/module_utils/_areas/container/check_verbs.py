# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge libibverbs, its providers and what they can open inside a container."""

from __future__ import annotations

import re
from typing import Iterator

from ..._data import rdma_packages
from ..._data.container import PROVIDERS, SOFT_PROVIDER, TOO_OLD, TooOld
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse._container_facts import OK, Inside
from ..._parse.version_text import numbers
from ..machine.facts import MELLANOX, Machine
from .check_view import CONTAINER, View, install

_LIBRARY, _PROVIDER = "container.verbs.library", "container.verbs.provider"
_OPENS, _VERSION = "container.verbs.opens", "container.rdma.version"
_VERBS = "libibverbs.so.1"
_WHICH = "nobody can tell which HCAs the host has"
_NO_LIBRARY = "no libibverbs to ask: see container.verbs.library"
_RELEASE = re.compile(r"(lib[a-z0-9]+)\.so\.[0-9]{1,3}\.[0-9]{1,3}\.([0-9]{1,5}\.[0-9]{1,5})")
_PLUGIN = re.compile(r"lib([a-z0-9_]+)-rdmav[0-9]{1,3}\.so")
_CORE = ("libibverbs1", "libibverbs")


def judge(view: View) -> Iterator[Check]:
    """container.verbs.* and container.rdma.version"""
    yield from view.scoped(_LIBRARY, view.rdma, lambda inside: _library(view, inside))
    yield from view.scoped(_PROVIDER, view.rdma, lambda inside: _provider(view, inside))
    opens = view.real.then(view.rdma)
    yield from view.each(_OPENS, opens, lambda subject, inside: _opens(view, subject, inside))
    yield from view.scoped(_VERSION, view.rdma, lambda inside: _version(view.machine, inside))


def _names(inside: Inside) -> list[str]:
    return [library.rpartition("/")[2] for library in inside.libraries]


def _has_library(inside: Inside) -> bool:
    return any(name.startswith(_VERBS) for name in _names(inside))


def _has_device(inside: Inside) -> bool:
    return any(device.startswith("uverbs") for device in inside.devices)


def _library(view: View, inside: Inside) -> Check:
    if _has_library(inside):
        found = next(library for library in inside.libraries if _VERBS in library)
        return passed(_LIBRARY, CONTAINER, found, _VERBS, CAPABILITY)
    where = inside.os.get("ID", "an unknown system")
    release = inside.os.get("VERSION_ID", "")
    cause = f"the image ({where} {release}".rstrip() + ") has no RDMA user space"
    remedy = install(view, inside)
    return failed(_LIBRARY, CONTAINER, "none", _VERBS, CAPABILITY, cause=cause, remedy=remedy)


def _needed(view: View) -> list[str]:
    """The providers for the host's HCAs, and for the soft RoCE that the site asks for."""
    found = [SOFT_PROVIDER] if view.expect.get("soft_roce") is not None else []
    for hca in view.machine.hcas:
        default = "mlx5" if hca.vendor == MELLANOX else ""
        name = PROVIDERS.get(hca.driver or "", default)
        if name and (hca.vendor == MELLANOX or hca.class_code[:4] in ("0207", "0c06")):
            found.append(name)
    return sorted(set(found))


def _provider(view: View, inside: Inside) -> Check:
    if not _has_library(inside):
        return skipped(_PROVIDER, CONTAINER, _NO_LIBRARY)
    if not view.machine.pci.known:
        return unknown(_PROVIDER, CONTAINER, f"{_WHICH}: {view.machine.pci.why}")
    wanted = _needed(view)
    if not wanted:
        return unknown(_PROVIDER, CONTAINER, "no provider is known for this host's HCAs")
    plugins = {entry.group(1) for name in _names(inside) if (entry := _PLUGIN.fullmatch(name))}
    expected = f"{', '.join(wanted)} for this host's RDMA devices"
    for name in wanted:
        lost = [
            what
            for what, there in (
                (f"lib{name}-rdmav*.so", name in plugins),
                (f"/etc/libibverbs.d/{name}.driver", name in inside.drivers),
            )
            if not there
        ]
        if lost:
            observed = f"no {' and no '.join(lost)}"
            cause = f"libibverbs is there without the provider {name}"
            return failed(
                *(_PROVIDER, CONTAINER, observed, expected, CAPABILITY),
                cause=cause,
                remedy=install(view, inside),
            )
    releases = _releases(inside)
    if len(set(releases.values())) > 1:
        observed = ", ".join(f"{name} of {release}" for name, release in releases.items())
        cause = "library and provider are of two releases of rdma-core and do not fit"
        return failed(_PROVIDER, CONTAINER, observed, "one release", CAPABILITY, cause=cause)
    return passed(_PROVIDER, CONTAINER, ", ".join(wanted), expected, CAPABILITY)


def _releases(inside: Inside) -> dict[str, str]:
    """The release of rdma-core that each library's file name tells."""
    found = {}
    for name in _names(inside):
        match = _RELEASE.fullmatch(name)
        if match and match.group(1) in ("libibverbs", "libmlx5"):
            found[match.group(1)] = match.group(2)
    return found


def _opens(view: View, subject: str, inside: Inside) -> Check:
    expected = "every RDMA device opens"
    for has, what, where in (
        (_has_library, "libibverbs to ask", _LIBRARY),
        (_has_device, "device to open", "container.device.uverbs"),
    ):
        if has(inside):
            continue
        if view.first is None or not has(view.first):
            return skipped(_OPENS, subject, f"no {what}: see {where}")
        cause = f"this user sees no {what}, and another one does"
        return failed(_OPENS, subject, "none open", expected, CAPABILITY, cause=cause)
    if inside.opens_by == "nothing":
        why = "the image has neither ibv_devinfo nor python3 to ask libibverbs with"
        return unknown(_OPENS, subject, why, remedy=install(view, inside, tools=True))
    bad = {name: said for name, said in inside.opens.items() if said != OK}
    if bad:
        name, said = next(iter(bad.items()))
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        cause = "libibverbs knows the device and cannot open it"
        return failed(_OPENS, subject, f"{name}: {said}{more}", expected, CAPABILITY, cause=cause)
    uverbs = sum(device.startswith("uverbs") for device in inside.devices)
    good = len(inside.opens)
    if good < uverbs:
        said = f": {inside.opens_said[0]}" if inside.opens_said else ""
        cause = "libibverbs finds no provider for the device, or is not let at it"
        return failed(_OPENS, subject, f"{good} of {uverbs} open{said}", expected, CAPABILITY, cause=cause)
    return passed(_OPENS, subject, f"{good} open, by {inside.opens_by}", expected, CAPABILITY)


def _version(machine: Machine, inside: Inside) -> Check:
    if not _has_library(inside):
        return skipped(_VERSION, CONTAINER, _NO_LIBRARY)
    observed, release = _core(inside)
    limits = {hca.device: TOO_OLD[hca.device] for hca in machine.hcas if hca.device in TOO_OLD}
    if not machine.pci.known:
        return unknown(_VERSION, CONTAINER, f"{_WHICH}: {machine.pci.why}")
    if limits:
        return _compared(next(iter(limits.values())), observed, release)
    what = observed or "of no release that a file or package tells"
    return passed(_VERSION, CONTAINER, what, "any: this host's HCAs are known to all", CAPABILITY)


def _core(inside: Inside) -> tuple[str, tuple[int, ...]]:
    """What tells the release of rdma-core, and its numbers; () where nothing does."""
    for package in inside.packages or ():
        if package.name in _CORE:
            return f"{package.name} {package.version}", numbers(package.version)
    release = _releases(inside).get("libibverbs", "")
    return (f"rdma-core {release}", numbers(release)) if release else ("", ())


def _compared(limit: TooOld, observed: str, release: tuple[int, ...]) -> Check:
    if not release:
        why = f"nothing tells the image's release of rdma-core, which {limit.hca} depends on"
        return unknown(_VERSION, CONTAINER, why)
    expected = f"newer than rdma-core {limit.release[0]}, for {limit.hca}"
    vendors = release[0] >= rdma_packages.FIRST_VENDOR_NUMBER
    if vendors or release[:2] > limit.release:
        return passed(_VERSION, CONTAINER, observed, expected, CAPABILITY)
    cause = f"user space is older than the HCA ({limit.confidence}: {limit.source})"
    return failed(_VERSION, CONTAINER, observed, expected, CAPABILITY, cause=cause)
