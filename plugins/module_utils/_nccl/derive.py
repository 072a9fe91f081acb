# SPDX-License-Identifier: GPL-3.0-or-later
"""From a host, the site's policy and the other nodes to the lines of nccl.conf, GPUDirect RDMA among them; no I/O."""

from __future__ import annotations

from typing import Iterable, Iterator

from .._areas.stack import gpudirect as _gpudirect
from .._data import gpudirect, nccl_values
from .._data.gpudirect import SIGHTS
from .._expect.nccl_policy import HCA, OFF, NcclPolicy
from . import derive_rails, derive_roce, derive_socket, registry
from .derive_rails import Rails
from .derived import Derived, Setting, Untold, one_line, setting, untold
from .fleet import FleetView
from .host import NcclHost
from .release import Release, shown

LEVEL, C2C = "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_C2C"
_LOC = "LOC"
# From this release on a loaded module is taken for a working one.
_TRUSTS_MODULE = next(sight.first for sight in SIGHTS if sight.sign == gpudirect.MODULE)
TOPO = "NCCL_TOPO_FILE"
# Not read by NCCL while the first is set.
_IN_VAIN = {derive_roce.INDEX: derive_roce.FAMILY}


def is_idle(host: NcclHost) -> bool:
    """Whether NCCL has nothing to do there: neither a GPU nor the library."""
    return host.gpus.value == () and host.nccl.value is None and host.nccl.missing


def derive(host: NcclHost, policy: NcclPolicy, fleet: FleetView | None) -> Derived:
    """The lines, what could not be told, and what is left out. ``fleet``: None where only this host
    is known. The same input always gives the same answer, in the same order."""
    rails = derive_rails.rails(host, policy)
    found = list(_lines(host, rails, policy, fleet))
    lines = {item.name: item for item in found if isinstance(item, Setting)}
    for name in sorted(policy.variables):
        instead = f", in place of {lines[name].value}" if name in lines else ""
        lines[name] = setting(name, policy.variables[name], f"nccl_conf_variables{instead}")
    for first, second in _IN_VAIN.items():
        if first in policy.variables and second not in policy.variables:
            lines.pop(second, None)
    answered = {*policy.variables, *policy.forbid}
    return Derived(
        settings=tuple(line for name, line in lines.items() if name not in policy.forbid),
        untold=tuple(item for item in found if isinstance(item, Untold) and item.name not in answered),
        left_out=rails.left_out,
        remarks=tuple(one_line(remark) for remark in _remarks(host, rails, policy)),
    )


def _lines(host: NcclHost, rails: Rails, policy: NcclPolicy, fleet: FleetView | None) -> Iterator[Setting | Untold]:
    nccl = host.release
    if host.ports.value == () or _by_itself(host, rails, policy):
        pass  # NCCL finds none, or the right ones, without a word.
    elif rails.ports:
        yield derive_rails.line(rails, nccl)
        if rails.missing:
            absent = ", ".join(rails.missing)
            yield untold(HCA, f"nccl_rails names {absent}, which this host does not have")
    else:
        yield untold(HCA, rails.why)
    yield from derive_socket.lines(host, policy)
    ours: Iterable[Setting | Untold] = ()
    if host.ports.value != ():
        ours = (
            *derive_roce.addresses(host, rails, fleet),
            *derive_roce.marks(host, rails, policy),
        )
    if policy.topo_file:
        ours = (*ours, setting(TOPO, policy.topo_file, "nccl_topo_file"))
    for entry in ours:
        if isinstance(entry, Untold) or not registry.is_default(entry.name, entry.value, nccl):
            yield entry
    yield from _gdr_lines(host, rails, policy)


def _by_itself(host: NcclHost, rails: Rails, policy: NcclPolicy) -> bool:
    """Whether the host has one HCA, all of whose ports are rails: there is nothing to choose."""
    one = len({port.device for port in host.ports.value or ()}) == 1
    return one and len(rails.ports) == len(host.ports.value or ()) and not policy.rails


def _remarks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[str]:
    yield from rails.remarks
    yield from _gdr_remarks(host, rails, policy)
    if host.simulated:
        yield f"simulated node: {host.simulated}"


def _gdr_lines(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[Setting | Untold]:
    """The lines of a host that has rails; nothing on one without a GPU."""
    if not rails.ports or host.gpus.value == ():
        return
    nccl = host.release
    if policy.gdr_level:
        yield from _level(host, nccl, policy.gdr_level)
    elif nccl is not None and nccl >= _TRUSTS_MODULE and _pretends(host):
        why = "nvidia_peermem is loaded and not registered, and there is no DMA-BUF"
        way = "see stack.gpudirect.path, or set nccl_gdr_level: off"
        yield untold(LEVEL, f"{why}: NCCL {shown(nccl)} takes GPUDirect for working and fails; {way}")
    asks = registry.is_default(C2C, "0", nccl)
    if host.superchip and nccl is not None and asks and policy.gdr_level != OFF:
        yield setting(C2C, 1, f"GPU and processor are one package, and NCCL {shown(nccl)} asks before it uses that")


def _gdr_remarks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[str]:
    """What no line can mend."""
    nccl, working = host.release, host.gpudirect.working
    if not rails.ports or not working or not host.gpus.value or policy.gdr_level == OFF:
        return
    if nccl is not None and not _gpudirect.seen(host.gpudirect, nccl):
        ways = ", ".join(working)
        yield f"NCCL {shown(nccl)} does not look for {ways}: it copies through the host's memory"
    if policy.gdr_level or host.superchip is not False:
        return
    if all(port.near and not port.by_switch for port in rails.ports):
        yield (
            "no rail shares a PCIe switch with a GPU, and NCCL uses GPUDirect no farther than that;"
            " nccl_gdr_level: PHB or SYS changes it, for better or worse, and in a virtual machine"
            " nccl_topo_file with the provider's topology"
        )


def _pretends(host: NcclHost) -> bool:
    """Whether the module is loaded and surely nothing works."""
    ways = host.gpudirect
    return bool(ways.dmabuf.value and ways.clients.value == () and ways.modules.value)


def _level(host: NcclHost, nccl: Release | None, wish: str) -> Iterator[Setting | Untold]:
    value = _LOC if wish == OFF else wish
    if nccl is not None and nccl < nccl_values.LEVEL_WORDS:
        yield untold(LEVEL, f"nccl_gdr_level is {wish}, and NCCL {shown(nccl)} knows no words for it")
    elif not registry.is_default(LEVEL, value, nccl) or _reaches_farther(host, nccl):
        yield setting(LEVEL, value, f"nccl_gdr_level is {wish}")


def _reaches_farther(host: NcclHost, nccl: Release | None) -> bool:
    """Whether this release reaches every HCA of a superchip while nobody sets a level."""
    return host.superchip is not False and registry.is_default(C2C, "1", nccl)
