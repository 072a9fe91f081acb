# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether NCCL, of the release that is there, would use GPUDirect RDMA on every rail."""

from __future__ import annotations

from ..._data import nccl_values
from ..._data.nccl_variables import TOPO_FILE
from ..._expect.expectations import CAPABILITY, INVENTORY
from ..._expect.nccl_policy import OFF
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._nccl import derive_rails, near, registry
from ..._nccl.derive import C2C, LEVEL, TOPO
from ..._nccl.release import Release, shown
from ..._parse import strtoll
from .facts import HostFacts

_LEVEL = "nccl.gdr.level"
_HOST = "host"
_GUEST = "; it goes by the bus that the hypervisor shows, where no topology file tells of the host's"
# NCCL has no word of its own for another PCIe root of the same NUMA node: it goes by the processor.
_AS_NCCL = {near.NODE: near.PHB}


def judge(here: HostFacts) -> Check:
    """nccl.gdr.level"""
    host = here.host
    rails = derive_rails.rails(host, here.wish.policy)
    why = _does_not_apply(here, bool(rails.ports) or host.ports.value is None)
    if why:
        return skipped(_LEVEL, _HOST, why)
    settings, release = here.settings, host.release
    for reading in (host.ports, host.gpus, settings):
        if reading.value is None:
            return unknown(_LEVEL, _HOST, reading.why or "nobody looked")
    if not rails.ports:
        return unknown(_LEVEL, _HOST, rails.why)
    if release is None:
        why = host.nccl.why or "its release cannot be told"
        if host.nccl.missing:
            return skipped(_LEVEL, _HOST, why)
        return unknown(_LEVEL, _HOST, why)
    level = _level(settings.value or {}, release, host.superchip)
    unplaced = [port.name for port in rails.ports if not port.near]
    if unplaced and level != nccl_values.LEVELS[-1]:
        why = f"how far {', '.join(unplaced[:4])} is from the GPUs cannot be told"
        return unknown(_LEVEL, _HOST, why, observed=level)
    beyond = [port for port in rails.ports if port.near and not _reaches(level, port.near)]
    expected = "GPUDirect RDMA on every rail"
    if not beyond:
        observed = f"up to {level}: every rail"
        return passed(_LEVEL, _HOST, observed, expected, CAPABILITY)
    named = ", ".join(f"{entry.name} ({_word(entry.near)})" for entry in beyond[:8])
    observed = f"up to {level}: not {named}"
    cause = f"NCCL {shown(release)} uses GPUDirect RDMA up to {level}, and copies through the host's memory beyond"
    if any(port.guest for port in beyond):
        cause += _GUEST
    if here.wish.policy.gdr_level == OFF:
        return passed(_LEVEL, _HOST, observed, "off", INVENTORY)
    return failed(_LEVEL, _HOST, observed, expected, CAPABILITY, cause=cause)


def _does_not_apply(here: HostFacts, rails: bool) -> str:
    host = here.host
    if not rails:
        return "no RDMA device on this host"
    if host.gpus.value == ():
        return "no GPU on this host"
    ways = host.gpudirect
    if not ways.working and ways.dmabuf.value is not None and ways.clients.value is not None:
        return "there is no way of GPUDirect RDMA: see stack.gpudirect.path"
    if TOPO in (here.settings.value or {}):
        return f"{TOPO} tells NCCL how far the HCAs are"
    if here.topology.value is not None:
        return f"{TOPO_FILE} tells NCCL how far the HCAs are"
    return ""


def _level(settings: dict[str, str], release: Release, superchip: bool | None) -> str:
    """The farthest that NCCL goes, as one of its words."""
    given = settings.get(LEVEL)
    if given is not None:
        number = strtoll.number(given).value if given.lstrip("+-").isdigit() else None
        if number is not None and number >= 0:
            return nccl_values.OLD_LEVELS[min(number, len(nccl_values.OLD_LEVELS) - 1)]
        if given in nccl_values.LEVELS and release >= nccl_values.LEVEL_WORDS:
            return given
    if superchip and (settings.get(C2C) == "1" or registry.is_default(C2C, "1", release)):
        return nccl_values.LEVELS[-1]
    default = registry.default_at(LEVEL, release)
    return next((level for level in nccl_values.LEVELS if default.startswith(level)), "PXB")


def _reaches(level: str, distance: str) -> bool:
    words = nccl_values.LEVELS
    return words.index(_word(distance)) <= words.index(level)


def _word(distance: str) -> str:
    return _AS_NCCL.get(distance, distance)
