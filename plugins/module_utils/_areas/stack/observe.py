# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of the installed stack."""

from __future__ import annotations

import json
import posixpath
import re

from ..._data import gpudirect, nccl_library, rdma_packages, stack_components
from ..._data.mpi import UCX_FILE
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._expect.expectations import Expectations
from ..._ground.link import INFINIBAND
from ..._ground.reading import Reading
from ..._parse import _make_log, modules_dep, ofed_info, ompi_info, ucx_info
from ..._parse.packages import Package
from ..host import packages
from ..machine.facts import Machine
from . import (
    observe_beegfs,
    observe_files,
    observe_gds,
    observe_held,
    observe_kmods,
    observe_linker,
    observe_repositories,
    observe_verbs,
)
from .facts import Beegfs, Dkms, Driver, PeerMemory, StackFacts
from .gds_facts import Gds
from .kmods_facts import KmodFacts

DKMS = "/var/lib/dkms"
DEVICES = "/sys/class/infiniband"
MLX5 = "/sys/module/mlx5_core"
NVIDIA = "/proc/driver/nvidia/version"
CUDA = "/usr/local/cuda/version.json"
# Who keeps packages where, by ID and ID_LIKE of os-release. A tool of the other kind may be
# installed, too, so only a system that is in neither list is asked for both.
_DATABASES = {
    "dpkg": ("debian", "ubuntu"),
    "rpm": ("rhel", "fedora", "centos", "suse", "sles", "amzn", "azurelinux", "mariner"),
}
_DRIVER = re.compile(r"Kernel Module +(?:for +\S{1,20} +)?([0-9]{1,5}\.[0-9]{1,5}(?:\.[0-9]{1,5})?)")
# Of all modules that modprobe would find, those that a check asks for.
_MODULES = ("mlx5_core", "nvidia", "nvidia_peermem")


def observe(evidence: Evidence, machine: Machine, expect: Expectations | None = None) -> StackFacts:
    """Packages, modules on the disk and in the kernel, and the ways of GPUDirect; storage (BeeGFS with its logs,
    GPUDirect Storage) only for whoever says what is expected of the host."""
    everything, database = _packages(evidence)
    devices = ask.names(evidence, DEVICES).map(tuple)
    verbs = observe_verbs.libraries(evidence, observe_verbs.VERBS)
    return StackFacts(
        ofed=_ofed(evidence),
        packages=everything.map(lambda found: tuple(package for package in found if _watched(package.name))),
        database=database,
        held=observe_held.observe(evidence, everything, database),
        brought=observe_held.brought(evidence, everything),
        lacks=observe_held.lacks(evidence, database),
        files_of_ours=observe_files.observe(evidence),
        repositories=observe_repositories.observe(evidence),
        devices=devices,
        fabric=_has_infiniband(evidence, devices.value or ()),
        mlx5=_module_version(evidence, MLX5),
        files=_module_files(evidence, machine),
        dkms=_dkms(evidence, machine),
        headers=observe_kmods.headers(evidence, machine.kernel.value)
        if machine.kernel.value
        else Reading(None, machine.kernel.why),
        next=KmodFacts() if machine.container else observe_kmods.observe(evidence),
        verbs=verbs,
        nccl=observe_verbs.libraries(evidence, nccl_library.SONAME).map(_linkers_own),
        userspace=observe_verbs.observe(evidence, devices.value or (), verbs),
        driver=ask.file(evidence, NVIDIA, driver_version),
        linker=observe_linker.observe(evidence),
        peer=_peer_memory(evidence, machine),
        cuda=ask.file(evidence, CUDA, cuda_version),
        ompi=ask.optional(evidence, "ompi_info", ompi_info.parse),
        ucx=ask.optional(evidence, "ucx_info", ucx_info.parse),
        ucx_conf=ask.text(evidence, UCX_FILE).map(_settings),
        beegfs=Beegfs() if expect is None else observe_beegfs.observe(evidence),
        gds=Gds() if expect is None else observe_gds.observe(evidence, expect),
    )


def _linkers_own(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Without what somebody unpacked elsewhere, as into /usr/local."""
    return tuple(path for path in paths if posixpath.dirname(path) in nccl_library.FOLDERS)


def _settings(text: str) -> dict[str, str]:
    """``NAME = value`` lines before the first section, which is for some machines only; of two that
    set the same the last counts."""
    found = {}
    for line in text.split("\n"):
        if line.lstrip().startswith("["):
            break
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            found[name.strip()] = value.strip()
    return found


def _ofed(evidence: Evidence) -> Reading[ofed_info.OfedInfo]:
    # A shell that does not find the tool ends with 127; its words are understood.
    said = ask.command(evidence, "ofed_info", ofed_info.parse, ok=(0, 126, 127))
    if said.value is not None and said.value.error:
        return Reading(None, f"ofed_info: {said.value.error}")
    return said


def _packages(evidence: Evidence) -> tuple[Reading[tuple[Package, ...]], str]:
    """All packages, and which database told of them."""
    words = set(observe_kmods.systems(evidence))
    mine = [name for name, served in _DATABASES.items() if words.intersection(served)]
    whys = []
    for name in mine[:1] or _DATABASES:
        found = packages.dpkg(evidence) if name == "dpkg" else packages.rpm(evidence)
        if found.value is not None:
            return found, name
        whys.append(found.why)
    return Reading(None, "; ".join(whys)), ""


def _watched(name: str) -> bool:
    known = {name for names in stack_components.PACKAGES.values() for name in names}
    return name in known or name.startswith(rdma_packages.WATCHED)


def _has_infiniband(evidence: Evidence, devices: tuple[str, ...]) -> Reading[bool]:
    """One such port is enough to know; that there is none is known once every port was seen."""
    unseen = ""
    for device in devices:
        ports = ask.names(evidence, f"{DEVICES}/{device}/ports")
        unseen = unseen or ("" if ports.missing else ports.why)
        for num in ports.value or ():
            layer = ask.text(evidence, f"{DEVICES}/{device}/ports/{num}/link_layer")
            if layer.value == INFINIBAND:
                return Reading(True)
            unseen = unseen or layer.why
    return Reading(None, unseen) if unseen else Reading(False)


def _module_version(evidence: Evidence, path: str) -> Reading[str]:
    """ "" for a module that tells no version; missing where the module is not loaded."""
    loaded = ask.names(evidence, path)
    if loaded.value is None:
        return Reading(None, loaded.why, loaded.missing)
    version = ask.text(evidence, f"{path}/version")
    return Reading("") if version.missing else version


def _module_files(evidence: Evidence, machine: Machine) -> Reading[dict[str, str]]:
    if machine.kernel.value is None:
        return Reading(None, machine.kernel.why)
    path = f"/lib/modules/{machine.kernel.value}/modules.dep"
    found = ask.whole(evidence, path, modules_dep.parse)
    return found.map(lambda every: {name: path for name in _MODULES if (path := modules_dep.file_of(every, name))})


def _dkms(evidence: Evidence, machine: Machine) -> Reading[tuple[Dkms, ...]]:
    """Every version of every module package; () where DKMS is not in use."""
    modules = ask.names(evidence, DKMS)
    if modules.value is None:
        return Reading(()) if modules.missing else Reading(None, modules.why)
    found = []
    for name in modules.value:
        if not name.startswith(("nvidia", "mlnx-of", "gdrdrv")):
            continue
        versions = ask.names(evidence, f"{DKMS}/{name}")
        if versions.value is None:
            return Reading(None, versions.why)
        for version in versions.value:
            # Links like kernel-6.8.0-88-generic-x86_64 lead to what is installed.
            if version.startswith("kernel-") or version == "original_module":
                continue
            inside = ask.names(evidence, f"{DKMS}/{name}/{version}")
            if inside.value is None:
                return Reading(None, inside.why)
            kernels = tuple(entry for entry in inside.value if entry not in ("source", "build"))
            log = _make_log.Failure()
            if machine.kernel.value and machine.kernel.value not in kernels and "build" in inside.value:
                log = _build(evidence, f"{DKMS}/{name}/{version}/build/make.log", machine.kernel.value)
            found.append(Dkms(name, version, kernels, log.lines, log.cause))
    return Reading(tuple(found))


def _build(evidence: Evidence, path: str, kernel: str) -> _make_log.Failure:
    """What a build for this kernel failed of, as far as its log tells."""
    text = ask.text(evidence, path).value
    if text is None:
        return _make_log.Failure()
    begin = text.split("\n", 1)[0]
    ours = not text.strip() or f" for kernel {kernel} " in f"{begin} "
    return _make_log.parse(text) if ours else _make_log.Failure()


def driver_version(text: str) -> Driver:
    """Read /proc/driver/nvidia/version; ValueError where it names no version."""
    first = text.split("\n", 1)[0]
    match = _DRIVER.search(first[:400])
    if match is None:
        raise ValueError("names no version of the NVIDIA driver")
    return Driver(match.group(1), "Open Kernel Module" in first)


def cuda_version(text: str) -> str:
    """Read version.json of a CUDA toolkit; ValueError where it names no version."""
    try:
        version = json.loads(text)["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    if not isinstance(version, str):
        raise ValueError("names no version of CUDA")
    return version


def _peer_memory(evidence: Evidence, machine: Machine) -> PeerMemory:
    clients = ask.names(evidence, gpudirect.MEMORY_PEERS).map(tuple)
    if clients.missing:
        clients = Reading(())
    loaded = []
    for name in gpudirect.PEERMEM_MODULES:
        there = ask.names(evidence, f"/sys/module/{name}")
        if there.value is not None:
            loaded.append(name)
        elif not there.missing:
            return PeerMemory(Reading(None, there.why), clients)
    symbol: Reading[bool] = Reading()
    if clients.value is not None and not clients.value:
        symbol = _exports_symbol(evidence, machine.kernel.value or "")
    return PeerMemory(Reading(tuple(loaded)), clients, symbol)


def _exports_symbol(evidence: Evidence, kernel: str) -> Reading[bool]:
    for path in gpudirect.SYMBOL_LISTS:
        exported = ask.text(evidence, path.format(kernel=kernel))
        if exported.value is not None:
            return Reading(gpudirect.PEERMEM_SYMBOL in exported.value.split())
        if not exported.missing:
            return Reading(None, exported.why)
    return Reading(False)
