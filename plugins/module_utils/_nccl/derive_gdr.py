# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect RDMA: NCCL uses by itself what it sees; what it cannot is told, and the rest is the
site's word; no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils import _gpudirect
from ansible_collections.ibready.cluster.plugins.module_utils._data import (
    gpudirect,
    nccl_values,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpudirect import SIGHTS
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import registry
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import Rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import (
    Untold,
    setting,
    untold,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import (
    OFF,
    NcclPolicy,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, shown
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting

LEVEL, C2C = "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_C2C"
_LOC = "LOC"
# From this release on a loaded module is taken for a working one.
_TRUSTS_MODULE = next(one.first for one in SIGHTS if one.sign == gpudirect.MODULE)


def lines(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[Setting | Untold]:
    """The lines of a host that has rails; nothing on one without a GPU."""
    if not rails.ports or host.gpus.value == ():
        return
    nccl = host.release
    if policy.gdr_level:
        yield from _level(host, nccl, policy.gdr_level)
    elif nccl is not None and nccl >= _TRUSTS_MODULE and _pretends(host):
        why = "nvidia_peermem is loaded and not registered, and there is no DMA-BUF"
        way = "see stack.gpudirect.path, or set nccl_gdr_level: off"
        yield untold(
            LEVEL, f"{why}: NCCL {shown(nccl)} takes GPUDirect for working and fails; {way}"
        )
    asks = registry.is_default(C2C, "0", nccl)
    if host.superchip and nccl is not None and asks and policy.gdr_level != OFF:
        why = f"GPU and processor are one package, and NCCL {shown(nccl)} asks before it uses that"
        yield setting(C2C, 1, why)


def remarks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[str]:
    """What no line can mend."""
    nccl, working = host.release, host.gpudirect.working
    if not rails.ports or not working or not host.gpus.value or policy.gdr_level == OFF:
        return
    if nccl is not None and not _gpudirect.seen(host.gpudirect, nccl):
        ways = ", ".join(working)
        yield f"NCCL {shown(nccl)} does not look for {ways}: it copies through the host's memory"
    if policy.gdr_level or host.superchip is not False:
        return
    if all(one.near and not one.by_switch for one in rails.ports):
        yield (
            "no rail shares a PCIe switch with a GPU, and NCCL uses GPUDirect no farther than that;"
            " nccl_gdr_level: PHB or SYS changes it, for better or worse"
        )


def _pretends(host: NcclHost) -> bool:
    """Whether the module is loaded and surely nothing works."""
    ways = host.gpudirect
    return bool(ways.dmabuf.value and ways.clients.value == () and ways.modules.value)


def _level(host: NcclHost, nccl: Release | None, wish: str) -> Iterator[Setting | Untold]:
    value = _LOC if wish == OFF else wish
    if nccl is not None and nccl < nccl_values.LEVEL_WORDS:
        yield untold(
            LEVEL, f"nccl_gdr_level is {wish}, and NCCL {shown(nccl)} knows no words for it"
        )
    elif not registry.is_default(LEVEL, value, nccl) or _reaches_farther(host, nccl):
        yield setting(LEVEL, value, f"nccl_gdr_level is {wish}")


def _reaches_farther(host: NcclHost, nccl: Release | None) -> bool:
    """Whether this release reaches every HCA of a superchip while nobody sets a level."""
    return host.superchip is not False and registry.is_default(C2C, "1", nccl)
