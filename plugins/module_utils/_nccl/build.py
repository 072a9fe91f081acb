# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the observers saw of a host to what its nccl.conf is derived from."""

from __future__ import annotations

from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils import _gpudirect
from ansible_collections.ibready.cluster.plugins.module_utils._checks import ib_rails, roce_rails
from ansible_collections.ibready.cluster.plugins.module_utils._data import (
    rdma_drivers,
    stack_components,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpus import SUPERCHIP
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Cached, Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    INVENTORY,
    Expectations,
    with_profile,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    INFINIBAND,
    IbFacts,
    layer,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import (
    Machine,
    PciFunction,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.net import NetFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import (
    RoceFacts,
    RocePort,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.stack import StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._hcas import chip, most_gbps
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import near
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import (
    CONFIRMED,
    MEDIUM,
    SAID,
    Apart,
    Card,
    NcclHost,
    NcclPort,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._observe import (
    ib,
    machine,
    net,
    roce,
    stack,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port

_NO_PACKAGE = "no NCCL package on this host: jobs bring their own"
_NO_RAIL_PROTOCOLS = (rdma_drivers.IWARP, rdma_drivers.OTHER, rdma_drivers.SOFTWARE)


def look(
    evidence: Evidence, expect: Expectations, peers: Sequence[str] = (), nccl: str = ""
) -> NcclHost:
    """Look at a host. ``peers``: addresses of the other nodes. ``nccl``: the version that is going
    to be there, "" for the one that is."""
    known = Cached(evidence)
    profile = expect.get("profile")
    seen = machine.observe(known, str(profile.value) if profile else "")
    return build(
        seen,
        ib.observe(known, seen),
        roce.observe(known, seen),
        stack.observe(known, seen),
        net.observe(known, peers),
        with_profile(expect, seen.board),
        nccl,
    )


def build(
    seen: Machine,
    fabric: IbFacts,
    ethernet: RoceFacts,
    installed: StackFacts,
    network: NetFacts,
    expect: Expectations,
    nccl: str = "",
) -> NcclHost:
    """The same of facts; ``expect``: with what the recognised hardware promises."""
    models = seen.gpus.value
    return NcclHost(
        ports=_ports(seen, fabric, ethernet, expect),
        gpus=seen.pci.map(
            lambda _every: tuple(Card(one.address, one.numa_node) for one in seen.cards)
        ),
        interfaces=network.interfaces,
        routes=dict(network.routes),
        nccl=Reading(nccl) if nccl else _nccl(installed),
        gpudirect=_gpudirect.ways(installed, seen),
        superchip=None if models is None else any(one and one.form == SUPERCHIP for one in models),
        wanted=_wanted(expect),
        simulated=seen.surely_simulated,
    )


def _nccl(installed: StackFacts) -> Reading[str]:
    if installed.packages.value is None:
        return Reading(None, installed.packages.why)
    package = installed.package(*stack_components.PACKAGES["nccl"])
    return Reading(package.version) if package else Reading(None, _NO_PACKAGE, True)


def _wanted(expect: Expectations) -> Wanted:
    count = ib_rails.wanted_hcas(expect)
    gid_index, tos = expect.get("roce_gid_index"), expect.get("roce_tos")
    return Wanted(
        hcas=int(count[0].value) if count else 0,
        exact=count[1] if count else False,
        source=count[0].source if count else "",
        gid_index=int(gid_index.value) if gid_index else None,
        tos=int(tos.value) if tos else None,
    )


def _ports(
    seen: Machine, fabric: IbFacts, ethernet: RoceFacts, expect: Expectations
) -> Reading[tuple[NcclPort, ...]]:
    if not fabric.cas:
        why = _why_unseen(seen, fabric, ethernet)
        return Reading(None, why) if why else Reading(())
    apart = _apart(fabric, ethernet, expect)
    functions = {one.address: one for one in seen.functions}
    more = {one.name: one for one in ethernet.ports.value or ()}
    found = []
    for ca in fabric.cas:
        function = functions.get(fabric.device(ca.name).address)
        for port in ca.ports:
            name = port_name(ca, port)
            found.append(
                _port(seen, fabric, ca, port, function, more.get(name), ethernet, apart.get(name))
            )
    return Reading(tuple(found))


def _why_unseen(seen: Machine, fabric: IbFacts, ethernet: RoceFacts) -> str:
    """Why no device is no proof that there is no RDMA; "" where it is one."""
    if seen.without_hardware:
        return fabric.ibstat_unknown or "; ".join(fabric.error_lines)
    if seen.holds_part:
        return f"seen from a container ({seen.holds_part}), which need not have all devices"
    if ethernet.devices.value:
        names = ", ".join(ethernet.devices.value)
        return f"there are {names}, and nothing tells their ports: {fabric.ibstat_unknown}"
    if ethernet.devices.value is None and not ethernet.devices.missing:
        return ethernet.devices.why or "nobody looked for RDMA devices"
    if fabric.bus.value is None and not fabric.bus.missing:
        return fabric.bus.why or "nobody looked at the PCI bus"
    if fabric.bus.value:
        functions = ", ".join(fabric.bus.value)
        return f"the kernel knows no RDMA device for {functions}: load its driver first"
    return ""


def _apart(fabric: IbFacts, ethernet: RoceFacts, expect: Expectations) -> dict[str, Apart]:
    """What the checks do not take for rails, by port."""
    found: dict[str, Apart] = {}
    for ca in fabric.cas:
        for port in ca.ports:
            if expect.ignores(ca.name, port_name(ca, port)):
                why = "left out by the inventory (ibready_expect.ignore)"
                found[port_name(ca, port)] = Apart(why, SAID)
    told = ib_rails.sort_out(fabric, expect)
    for one in told.apart:
        found[one.name] = Apart(one.why, MEDIUM if one.spare else CONFIRMED)
    chosen = expect.get("link_layer")
    sure = SAID if chosen is not None and chosen.source == INVENTORY else MEDIUM
    for ca, port in told.others:
        why = f"{layer(port) or 'no known'} link layer: the rails are {told.layer}"
        found[port_name(ca, port)] = Apart(why, sure)
    if told.layer != INFINIBAND:
        _rails, others = roce_rails.split(ethernet.ports.value or (), expect)
        for rdma, why in others:
            certain = rdma.virtual or rdma.protocol in _NO_RAIL_PROTOCOLS
            found.setdefault(rdma.name, Apart(why, CONFIRMED if certain else MEDIUM))
    return found


def _port(
    seen: Machine,
    fabric: IbFacts,
    ca: Ca,
    port: Port,
    function: PciFunction | None,
    rdma: RocePort | None,
    ethernet: RoceFacts,
    apart: Apart | None,
) -> NcclPort:
    device = fabric.device(ca.name)
    # A hypervisor lays out a bus of its own.
    placed = function is not None and seen.virtual.value is False
    distance = near.nearest(function, seen.cards) if placed and function is not None else ""
    return NcclPort(
        device=ca.name,
        num=port.num,
        layer=layer(port),
        state=port.state,
        rate=port.rate,
        model=chip(ca.type, ca.fw),
        most_gbps=most_gbps(ca.type),
        address=device.address,
        numa=function.numa_node if function else -1,
        ports=ca.n_ports or len(ca.ports),
        adapter=ca.system_guid,
        near=distance,
        subnet=ib_rails.subnet(fabric, ca, port),
        virtual=device.virtual,
        unclear=bool(device.address) and device.address in seen.unclear_managers,
        apart=apart,
        netdev=(rdma.netdev.value or "") if rdma else "",
        gids=rdma.gids if rdma else Reading(None, ethernet.ports.why or "it is no Ethernet port"),
        traffic_class=rdma.traffic_class.value if rdma else None,
    )
