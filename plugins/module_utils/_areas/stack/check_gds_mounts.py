# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the file systems that the site wants by GPUDirect Storage: of which kind, over which network."""

from __future__ import annotations

from typing import Iterator

from ..._data import gds
from ..._expect.expectations import INVENTORY, Expected
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._parse.mounts import Mount
from .facts import StackFacts
from .gds_facts import GdsMount
from .observe_beegfs import CONF

_ID = "stack.gds.mount"
_SHOWN = 4


def judge(facts: StackFacts, wanted: Expected | None) -> Iterator[Check]:
    """stack.gds.mount, one a place; ``wanted``: the way that the site names."""
    compat = wanted is not None and wanted.value == gds.COMPAT
    if not facts.gds.mounts:
        yield skipped(_ID, "gds", "nobody names mount points: ibready_expect.gds_mounts")
    for mount in facts.gds.mounts:
        yield _judged(facts, mount, compat)


def route_of(found: GdsMount) -> Reading[gds.Route]:
    """How GDS reaches what is mounted there; without a value where it does not, or nobody can tell."""
    if found.mount.value is None:
        return Reading(None, found.mount.why)
    kind = found.mount.value.kind
    if kind in gds.ON_DISK:
        return found.disks.map(lambda disks: _of_disks(found.point, disks))
    route = next((route for route in gds.ROUTES if kind in route.kinds), None)
    return Reading(route) if route else Reading(None, f"GDS has no way to {kind}, which is mounted at {found.point}")


def _of_disks(point: str, disks: dict[str, str]) -> gds.Route:
    if not all(disks.values()):
        raise ValueError(f"{point} is not on NVMe")
    return gds.NVME if set(disks.values()) == {"pcie"} else gds.NVME_OF


def _judged(facts: StackFacts, found: GdsMount, compat: bool) -> Check:
    expected = "mounted" if compat else "mounted, and of a kind that GDS reaches by RDMA or on NVMe"

    def missing() -> Check:
        cause = "the mount failed, or nothing mounts it at boot"
        return failed(_ID, found.point, "nothing is mounted there", expected, INVENTORY, cause=cause)

    def judge(mount: Mount) -> Check:
        if compat:
            return passed(_ID, found.point, mount.kind, expected, INVENTORY)
        if mount.kind in gds.ON_DISK and found.disks.value is None:
            return unknown(_ID, found.point, found.disks.why)
        observed, cause, unseen = _seen(facts, found, mount)
        if unseen:
            return unknown(_ID, found.point, unseen, observed=observed)
        if cause:
            return failed(_ID, found.point, observed, expected, INVENTORY, cause=cause)
        return passed(_ID, found.point, observed, expected, INVENTORY)

    return look(_ID, found.point, found.mount, judge, missing=missing)


def _seen(facts: StackFacts, found: GdsMount, mount: Mount) -> tuple[str, str, str]:
    """What is mounted, why it is wrong, and why nobody can tell; the last two are "" where it is right."""
    if mount.kind in gds.ON_DISK:
        return _disk(found.disks.value or {}, mount)
    if mount.kind in ("nfs", "nfs4"):
        proto = next((word.partition("=")[2] for word in mount.options if word.startswith("proto=")), "")
        if not proto:
            return mount.kind, "", "its options do not name a proto"
        return f"{mount.kind} by {proto}", "" if proto.startswith("rdma") else "mounted without proto=rdma", ""
    if mount.kind == "lustre":
        return _lustre(mount)
    if mount.kind == "beegfs":
        # stack.beegfs.transport judges how it is connected, but for a client that is not to have RDMA.
        if facts.beegfs.use_rdma.value is False:
            if f"cfgFile={CONF}" in mount.options:
                return "beegfs", f"connUseRDMA is false in {CONF}: it goes by TCP", ""
            return "beegfs", "", f"connUseRDMA is false in {CONF}, and its client reads another file"
        return "beegfs", "", "" if facts.beegfs.nodes.known else facts.beegfs.nodes.why
    if route_of(found).value is None:
        return mount.kind, f"GDS has no way to {mount.kind}: cuFile copies through host memory", ""
    return mount.kind, "", ""


def _disk(disks: dict[str, str], mount: Mount) -> tuple[str, str, str]:
    shown = few([f"{name} ({kind})" if kind else name for name, kind in sorted(disks.items())], _SHOWN)
    observed = f"{mount.kind} on {shown}"
    if not all(disks.values()):
        return observed, "what lies below is no NVMe", ""
    if not set(disks.values()) <= set(gds.RDMA_TRANSPORTS):
        return observed, "NVMe over a network without RDMA", ""
    if mount.kind == "ext4" and gds.ORDERED not in mount.options:
        return observed, f"ext4 has to be mounted with {gds.ORDERED} among its options, although it is the default", ""
    return observed, "", ""


def _lustre(mount: Mount) -> tuple[str, str, str]:
    """Its servers as the mount names them: 192.0.2.1@o2ib:192.0.2.2@o2ib:/fs."""
    servers = mount.device.rpartition(":/")[0]
    networks = {nid.rpartition("@")[2] for nid in servers.replace(",", ":").split(":") if "@" in nid}
    if not networks:
        return "lustre", "", f"{mount.device} names no network of its servers"
    observed = f"lustre over {', '.join(sorted(networks))}"
    if not all(network.startswith(gds.RDMA_NETWORKS) for network in networks):
        return observed, "LNet goes over TCP", ""
    return observed, "", ""
