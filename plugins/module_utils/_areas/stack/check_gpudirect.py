# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether HCAs can reach GPU memory by themselves, and whether NCCL would see that."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._data import gpudirect, stack_components
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._parse.version_text import numbers
from ..machine.facts import Machine
from . import gpudirect as _gpudirect
from .check_installed import NO_RDMA, has_rdma, wanted_stack
from .facts import StackFacts
from .gpudirect import Ways

_PATH = "stack.gpudirect.path"
_NCCL = "stack.gpudirect.nccl"
_HOST = "host"
_EXPECTED = f"{gpudirect.DMABUF} or a registered nvidia_peermem"
_DRIVER_FIRST = "load the NVIDIA driver first; see the gpu checks"


def judge(facts: StackFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    """stack.gpudirect.*"""
    why = _does_not_apply(facts, machine, expect)
    if why is not None:
        for check_id in (_PATH, _NCCL):
            if why:
                yield skipped(check_id, _HOST, why)
            else:
                yield unknown(check_id, _HOST, _cannot_tell(facts, machine))
        return
    offered = _gpudirect.ways(facts, machine)
    yield _path(facts, offered)
    yield _seen_by_nccl(facts, offered)


def _does_not_apply(facts: StackFacts, machine: Machine, expect: Expectations) -> str | None:
    """Why not; None where it does apply, "" where nobody can tell."""
    if machine.without_hardware:
        return f"simulated node: {machine.without_hardware}"
    if machine.has_gpus is False:
        return "no NVIDIA GPU on the PCI bus"
    rdma = has_rdma(facts, machine)
    if rdma is False:
        return NO_RDMA
    accepted = _accepted(expect)
    if accepted:
        return f"planned without GPUDirect RDMA: {accepted}"
    if machine.has_gpus is None or rdma is None:
        return ""
    if not facts.devices.value:
        return "" if not facts.devices.missing else "no RDMA device: see ib.hca.present"
    wanted = any(expect.get(key) for key in ("hcas", "hcas_min", "link_layer"))
    if wanted or facts.fabric.value:
        return None
    if facts.fabric.value is None:
        return ""
    return "only Ethernet RDMA ports, and nobody expects rails of this host"


def _accepted(expect: Expectations) -> str:
    """The lock's word for a plan without GPUDirect RDMA that the site asked for, "" without one."""
    memory = wanted_stack(expect).get("peer_memory")
    return str(memory.get(gpudirect.ACCEPTED) or "") if isinstance(memory, dict) else ""


def _cannot_tell(facts: StackFacts, machine: Machine) -> str:
    if machine.has_gpus is None:
        return machine.gpus.why or "nobody could look for GPUs"
    return facts.devices.why or machine.pci.why or facts.fabric.why or "nobody could look for HCAs"


def _path(facts: StackFacts, offered: Ways) -> Check:
    clients = offered.clients.value
    found = [gpudirect.DMABUF] if offered.dmabuf.value == "" else []
    if clients:
        found.append(f"nvidia_peermem ({', '.join(clients)})")
    loaded = offered.modules.value or ()
    if found and len(loaded) > 1:
        old = gpudirect.PEERMEM_MODULES[1]
        cause = f"both serve GPU memory to the HCAs: {old} is the one of before, and which of them does it is by chance"
        remedy = (
            f"`modprobe -r {old}` when no job runs, and remove its package (nvidia-peer-memory-dkms, nv_peer_memory)"
        )
        both = failed(_PATH, _HOST, " and ".join(loaded), "one of them", CAPABILITY, cause=cause, remedy=remedy)
        return replace(both, severity="warning")
    if found:
        return passed(_PATH, _HOST, ", ".join(found), _EXPECTED, CAPABILITY)
    if facts.driver.missing:
        return unknown(_PATH, _HOST, "no NVIDIA driver is loaded", remedy=_DRIVER_FIRST)
    for reading in (offered.dmabuf, offered.clients):
        if reading.value is None:
            return unknown(_PATH, _HOST, reading.why)
    if offered.modules.value is None:
        return unknown(_PATH, _HOST, offered.modules.why)
    observed, cause = _why_no_peermem(facts, offered.modules.value)
    mends = cause.remedy if isinstance(cause, Cause) else ""
    return failed(_PATH, _HOST, observed, _EXPECTED, CAPABILITY, cause=f"{offered.dmabuf.value}; {cause}", remedy=mends)


def _why_no_peermem(facts: StackFacts, modules: tuple[str, ...]) -> tuple[str, str]:
    if modules:
        return (
            f"{modules[0]} is loaded and not registered",
            "it was built without the RDMA stack's peer memory, so it does nothing, although NCCL takes it for working",
        )
    if facts.peer.symbol.value:
        return "nvidia_peermem is not loaded", Cause(
            "the RDMA stack would take it: load it",
            "`modprobe nvidia-peermem`, and have it loaded at boot (/etc/modules-load.d); then look for nv_mem in "
            "/sys/kernel/mm/memory_peers",
        )
    if facts.peer.symbol.value is False:
        return (
            "nvidia_peermem is not loaded",
            Cause(
                "it cannot be: no vendor's RDMA stack exports peer memory",
                "take the driver's open kernel modules on a kernel from 5.12 on (DMA-BUF), or plan a vendor's RDMA "
                "stack with nvidia-peermem",
            ),
        )
    return "nvidia_peermem is not loaded", "whether it could be cannot be told"


def _seen_by_nccl(facts: StackFacts, offered: Ways) -> Check:
    package = facts.packaged(facts.package(*stack_components.PACKAGES["nccl"]), facts.nccl)
    if package.missing:
        return skipped(_NCCL, _HOST, "no NCCL package on this host: jobs bring their own")
    nccl = package.value
    if nccl is None:
        return unknown(_NCCL, _HOST, package.why)
    if not offered.working:
        dmabuf, clients = offered.dmabuf, offered.clients
        if facts.driver.missing or dmabuf.value is None or clients.value is None:
            why = clients.why or dmabuf.why
            return unknown(_NCCL, _HOST, why, remedy=_DRIVER_FIRST if facts.driver.missing else "")
        return skipped(_NCCL, _HOST, "there is no way to see: see stack.gpudirect.path")
    found = _gpudirect.seen(offered, numbers(nccl.version)[:3])
    observed = f"NCCL {nccl.version}"
    if found:
        return passed(_NCCL, _HOST, f"{observed} sees {', '.join(found)}", "any way", CAPABILITY)
    ways = ", ".join(sorted(offered.shown))
    cause = f"this release does not look for {ways}: it copies through the host"
    return failed(_NCCL, _HOST, observed, "a release that looks for it", CAPABILITY, cause=cause)
