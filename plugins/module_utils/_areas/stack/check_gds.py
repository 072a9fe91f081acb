# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge GPUDirect Storage: the way that jobs' data goes, the module, and what gdscheck says of the platform."""

from __future__ import annotations

from typing import Iterator

from ..._data import gds
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.text import few
from ..._parse.gdscheck import Gdscheck
from ..._parse.version_text import numbers
from ..machine.facts import Machine
from . import check_gds_conf, check_gds_mounts
from .check_gds_mounts import route_of
from .facts import StackFacts
from .gds_facts import Gds, GdsMount

_MODE, _MODULE, _PLATFORM = "stack.gds.mode", "stack.gds.module", "stack.gds.platform"
_IDS = (_MODE, _MODULE, "stack.gds.conf", "stack.gds.mount", _PLATFORM)
_SUBJECT, _NONE = "gds", "none"
_SHOWN = 4


def judge(facts: StackFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    """stack.gds.*"""
    why = _why_not(facts.gds, machine)
    if why is not None:
        yield from (skipped(check_id, _SUBJECT, why) if why else _unseen(check_id, facts.gds) for check_id in _IDS)
        return
    wanted = expect.get("gds")
    yield from _mode(facts.gds, wanted)
    yield _module(facts, machine, wanted)
    yield check_gds_conf.judge(facts.gds)
    yield from check_gds_mounts.judge(facts, wanted)
    yield _platform(facts.gds)


def _why_not(found: Gds, machine: Machine) -> str | None:
    """Why nothing is judged; None where it is, "" where nobody can tell."""
    if found.sign.missing:
        return found.sign.why
    if machine.without_hardware:
        return f"simulated node: {machine.without_hardware}"
    if machine.has_gpus is False:
        return "no NVIDIA GPU on the PCI bus"
    return None if found.sign.known else ""


def _unseen(check_id: str, found: Gds) -> Check:
    return unknown(check_id, _SUBJECT, found.sign.why)


def ways(tool: Gdscheck, route: gds.Route) -> tuple[str, ...]:
    """How data goes, the way that is taken first; () where cuFile refuses to move it."""
    if tool.force:
        return (gds.COMPAT,)
    said = {driver.name: driver.modes for driver in tool.drivers}
    words = [word for label in route.labels for word in said.get(label, ())]
    found = [gds.MODES[word] for word in words if word in gds.MODES]
    if gds.SUPPORTED in words:
        found.append(route.ways[0])
    old = gds.SUPPORTED in words or gds.UNSUPPORTED in words
    if route is gds.NVME and tool.p2pdma and gds.SUPPORTED in said.get(gds.OLD_P2PDMA, ()):
        found.insert(0, gds.P2PDMA)
    if old and tool.compat:
        found.append(gds.COMPAT)
    # With its global switch on, gdscheck tells of P2PDMA where GDS has none.
    return tuple(dict.fromkeys(way for way in found if way in (*route.ways, gds.COMPAT)))


def _mode(found: Gds, wanted: Expected | None) -> Iterator[Check]:
    """One for each place that the site names, or one for the host."""
    if wanted is None and not found.mounts:
        yield skipped(_MODE, _SUBJECT, "nobody says by which way jobs are to read: ibready_expect.gds")
        return
    if found.tool.value is None:
        places = [mount.point for mount in found.mounts] or [_SUBJECT]
        yield from (unknown(_MODE, place, found.tool.why) for place in places)
        return
    tool = found.tool.value
    source = wanted.source if wanted else CAPABILITY
    if wanted is not None and not found.mounts:
        yield _of_host(found, tool, wanted.value, source)
    for mount in found.mounts:
        yield _of_mount(found, tool, mount, wanted.value if wanted else "", source)


def _of_host(found: Gds, tool: Gdscheck, wanted: str, source: str) -> Check:
    taken = {route.labels[0]: (*ways(tool, route), _NONE)[0] for route in gds.ROUTES}
    direct = {name: way for name, way in taken.items() if way not in (gds.COMPAT, _NONE)}
    observed = ", ".join(f"{name} by {way}" for name, way in direct.items()) or _rest(taken)
    if wanted == gds.COMPAT:
        holds = not direct and gds.COMPAT in taken.values()
        cause = "a direct way is switched on" if direct else ""
        if not direct and not tool.compat:
            cause = f"properties.allow_compat_mode is false in {gds.CONF}: cuFile refuses instead of copying"
        return outcome(holds, _MODE, _SUBJECT, observed, wanted, source, cause=cause)
    cause = _why(found, tool, gds.NVME, (wanted,))
    expected = f"{wanted} to a file system"
    return outcome(wanted in direct.values(), _MODE, _SUBJECT, observed, expected, source, cause=cause)


def _rest(taken: dict[str, str]) -> str:
    return "compat for every file system" if gds.COMPAT in taken.values() else "no way to any file system"


def _of_mount(found: Gds, tool: Gdscheck, mount: GdsMount, wanted: str, source: str) -> Check:
    route = route_of(mount)
    if route.value is None:
        return unknown(_MODE, mount.point, route.why)
    # A file system that has no way of the wanted name is held to those that it has.
    need = (wanted,) if wanted in (gds.COMPAT, *route.value.ways) else route.value.ways
    taken = (*ways(tool, route.value), _NONE)[0]
    observed = f"{route.value.labels[0]} by {taken}" if taken != _NONE else f"{route.value.labels[0]}: not supported"
    cause = _why(found, tool, route.value, need)
    return outcome(taken in need, _MODE, mount.point, observed, " or ".join(need), source, cause=cause)


def _why(found: Gds, tool: Gdscheck, route: gds.Route, need: tuple[str, ...]) -> str:
    """Why it is none of the ways that will do, as far as anybody can tell; "" leaves it to the catalog."""
    if tool.force:
        return "force_compat_mode is true: cuFile copies everything through host memory"
    if need == (gds.P2PDMA,) and not tool.p2pdma:
        return f"properties.use_pci_p2pdma is false in {gds.CONF}"
    read = found.conf.value.read if found.conf.value else None
    if need == (gds.P2PDMA,) and route is gds.NVME and read is not None and not read.nvme_p2pdma:
        return f"block.nvme.use_pci_p2pdma is not set in {gds.CONF}, and counts beside that of properties"
    if gds.NVIDIA_FS not in need or not route.module:
        return ""
    if found.loaded.missing:
        return "nvidia_fs is not loaded"
    if found.hooked.value is not None and route.module not in found.hooked.value:
        loaded = route.module in (found.modules.value or ())
        if not loaded and found.modules.known:
            return f"{route.module} is not loaded"
        return f"nvidia_fs did not hook into {route.module}: it was built without NVIDIA's changes for it"
    return ""


def _wanted(found: Gds) -> bool:
    """Whether the site says that GDS is wanted, and not only the host."""
    return (found.sign.value or "").startswith("expect.")


def _module(facts: StackFacts, machine: Machine, wanted: Expected | None) -> Check:
    found = facts.gds
    need = wanted is not None and wanted.value == gds.NVIDIA_FS
    expected = "nvidia_fs, of the installed release"

    def missing() -> Check:
        if not need:
            return skipped(_MODULE, "nvidia_fs", "not loaded, and nobody says that jobs read by it")
        cause = _why_not_loaded(facts, machine)
        return failed(_MODULE, "nvidia_fs", "not loaded", expected, wanted.source if wanted else "", cause=cause)

    def judge(version: str) -> Check:
        oldest = found.tool.value.minimum if found.tool.value else ""
        if oldest and numbers(version)[:2] < numbers(oldest)[:2]:
            cause = f"cuFile of this host takes no nvidia-fs before {oldest}"
            return failed(_MODULE, "nvidia_fs", version, f"{oldest} or newer", CAPABILITY, cause=cause)
        if facts.dkms.value is None:
            return unknown(_MODULE, "nvidia_fs", facts.dkms.why, observed=version)
        every = [entry for entry in facts.dkms.value if entry.name == "nvidia-fs"]
        mine = [entry.version for entry in every if machine.kernel.value in entry.kernels]
        mine = mine or [entry.version for entry in every]
        if mine and not any(numbers(entry)[:2] == numbers(version)[:2] for entry in mine):
            observed = f"{version} is loaded, and DKMS has {', '.join(mine)}"
            return failed(_MODULE, "nvidia_fs", observed, expected, CAPABILITY)
        if mine or oldest:
            return passed(_MODULE, "nvidia_fs", version, expected if mine else f"{oldest} or newer", CAPABILITY)
        if found.tool.missing and not _wanted(found):
            return skipped(_MODULE, "nvidia_fs", "neither DKMS nor cuFile is here, whose release it could be held to")
        why = f"DKMS has no nvidia-fs, and gdscheck names no release: {found.tool.why or 'it says nothing of it'}"
        return unknown(_MODULE, "nvidia_fs", why, observed=version)

    return look(_MODULE, "nvidia_fs", found.loaded, judge, missing=missing)


def _why_not_loaded(facts: StackFacts, machine: Machine) -> str:
    """What keeps the module out, "" where it is only that nobody loaded it."""
    mine = [entry for entry in facts.dkms.value or () if entry.name == "nvidia-fs"]
    kernel = machine.kernel.value or ""
    if facts.dkms.known and not mine:
        return "DKMS knows no nvidia-fs: the package nvidia-fs-dkms is not installed"
    new = [entry for entry in mine if numbers(entry.version)[:3] >= gds.OPEN_ONLY]
    if new and machine.arch == "x86_64" and facts.driver.value and not facts.driver.value.open:
        return f"nvidia-fs {new[0].version} takes NVIDIA's open kernel modules only, and the proprietary are loaded"
    if mine and kernel and not any(kernel in entry.kernels for entry in mine):
        log = "; ".join(line for entry in mine for line in entry.failed)
        return f"DKMS did not build nvidia-fs for {kernel}" + (f": {log}" if log else "")
    return ""


def _platform(found: Gds) -> Check:
    """What gdscheck says of GPUs and platform, whatever is mounted."""
    expected = "every GPU supports GDS, and the platform is verified"

    def judge(tool: Gdscheck) -> Check:
        seen = f"GDS {tool.release}, {tool.gpus} GPUs"
        wrong = [*tool.unfit, *([tool.refused] if tool.refused else [])]
        if not wrong and not tool.gpus:
            wrong = ["it sees no GPU"]
        return outcome(not wrong, _PLATFORM, _SUBJECT, few(wrong, _SHOWN, "; ") or seen, expected, CAPABILITY)

    def missing() -> Check:
        if not _wanted(found):
            return skipped(_PLATFORM, _SUBJECT, "gdscheck is not installed, and nobody says that GDS is wanted")
        return unknown(_PLATFORM, _SUBJECT, found.tool.why)

    return look(_PLATFORM, _SUBJECT, found.tool, judge, missing=missing)
