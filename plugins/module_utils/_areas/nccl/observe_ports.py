# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA ports of a host, each with the reason where the checks do not take it for a rail."""

from __future__ import annotations

from dataclasses import replace

from ..._data import rdma_drivers
from ..._expect.expectations import Expectations
from ..._ground.link import ETHERNET, INFINIBAND
from ..._ground.reading import Reading
from ..._nccl import near
from ..._nccl.host import CONFIRMED, MEDIUM, SAID, Apart, NcclPort
from ..._parse.ibstat import Ca, Port
from ..._rails import ib as ib_rails, roce as roce_rails
from ..._rails.hcas import chip, most_gbps
from ..._rails.ib_ports import IbFacts, layer, port_name
from ..._rails.roce_ports import RoceFacts, RocePort
from ..machine.facts import Machine, PciFunction

_NO_RAIL_PROTOCOLS = (rdma_drivers.IWARP, rdma_drivers.OTHER, rdma_drivers.SOFTWARE)


def ports(seen: Machine, fabric: IbFacts, ethernet: RoceFacts, expect: Expectations) -> Reading[tuple[NcclPort, ...]]:
    """Every port; unknown where one may be missing, for a list without it would be a guess."""
    listed = {ca.name for ca in fabric.cas}
    # ibstat shows devices with a management interface only, which iWARP ones have not.
    more = [port for port in ethernet.ports.value or () if port.device not in listed]
    why = _why_in_part(fabric, listed)
    if not why and not fabric.cas and not more:
        why = _why_unseen(seen, fabric, ethernet)
    if why:
        return Reading(None, why)
    apart = _apart(fabric, ethernet, expect)
    functions = {function.address: function for function in seen.functions}
    rdma = {port.name: port for port in ethernet.ports.value or ()}
    found = [
        _with_address(
            seen,
            _port(fabric, ca, port, rdma.get(port_name(ca, port)), ethernet),
            functions.get(fabric.device(ca.name).address),
        )
        for ca in fabric.cas
        for port in ca.ports
    ]
    for entry in more:
        mine = sum(other.device == entry.device for other in more)
        found.append(_with_address(seen, _from_kernel(entry, mine), functions.get(entry.address)))
    return Reading(tuple(replace(item, apart=apart.get(item.name)) for item in found))


def _why_in_part(fabric: IbFacts, listed: set[str]) -> str:
    """Why some ports are not known, "" where all are."""
    for ca in fabric.cas:
        if not ca.ports or (ca.n_ports is not None and ca.n_ports != len(ca.ports)):
            return f"not all ports of {ca.name} are told of"
    for ca in fabric.sysfs:
        if ca.name not in listed and any(layer(port) in (INFINIBAND, "") for port in ca.ports):
            return f"the kernel knows {ca.name}, and {fabric.source} does not"
    return ""


def _why_unseen(seen: Machine, fabric: IbFacts, ethernet: RoceFacts) -> str:
    """Why no device is no proof that there is no RDMA; "" where it is one."""
    if seen.without_hardware:
        return fabric.ibstat_unknown or "; ".join(fabric.error_lines)
    if seen.holds_part:
        return f"seen from a container ({seen.holds_part}), which need not have all devices"
    if ethernet.devices.value:
        why = fabric.ibstat_unknown or ethernet.ports.why or "ibstat lists none of them"
        return f"there are {', '.join(ethernet.devices.value)}, and nothing tells their ports: {why}"
    if ethernet.devices.value is None and not ethernet.devices.missing:
        return ethernet.devices.why or "nobody looked for RDMA devices"
    if fabric.bus.value is None and not fabric.bus.missing:
        return fabric.bus.why or "nobody looked at the PCI bus"
    if fabric.bus.value:
        functions = ", ".join(fabric.bus.value)
        return f"the kernel knows no RDMA device for {functions}: load its driver first"
    return ""


def _apart(fabric: IbFacts, ethernet: RoceFacts, expect: Expectations) -> dict[str, Apart]:
    """What the checks do not take for rails, by port; of two networks the derivation makes its own."""
    expect = expect.as_said()
    found: dict[str, Apart] = {}
    for ca in fabric.cas:
        for port in ca.ports:
            if expect.ignores(ca.name, port_name(ca, port)):
                why = "left out by the inventory (ibready_expect.ignore)"
                found[port_name(ca, port)] = Apart(why, SAID)
    reported = ib_rails.sort_out(fabric, expect)
    for entry in reported.apart:
        found[entry.name] = Apart(entry.why, MEDIUM if entry.spare else CONFIRMED)
    chosen = expect.get("link_layer")
    sure = SAID if chosen is not None and chosen.is_said else MEDIUM
    for ca, port in reported.others:
        why = f"{layer(port) or 'no known'} link layer: the rails are {reported.layer}"
        found[port_name(ca, port)] = Apart(why, sure)
    ports = ethernet.ports.value or ()
    if reported.layer == INFINIBAND:
        for rdma in ports:
            found.setdefault(rdma.name, Apart(f"{ETHERNET} link layer: the rails are {reported.layer}", sure))
        return found
    _rails, others = roce_rails.split(ports, expect)
    for rdma, why in others:
        certain = rdma.virtual or rdma.protocol in _NO_RAIL_PROTOCOLS
        found.setdefault(rdma.name, Apart(why, CONFIRMED if certain else MEDIUM))
    return found


def _with_address(seen: Machine, port: NcclPort, function: PciFunction | None) -> NcclPort:
    """The port, with what its place on the bus tells."""
    if function is None:
        return port
    return replace(
        port,
        numa=function.numa_node,
        near=near.nearest(function, seen.cards),
        guest=seen.virtual.value,
        unclear=function.address in seen.unclear_managers,
    )


def _port(fabric: IbFacts, ca: Ca, port: Port, rdma: RocePort | None, ethernet: RoceFacts) -> NcclPort:
    device = fabric.device(ca.name)
    return NcclPort(
        device=ca.name,
        num=port.num,
        layer=layer(port),
        state=port.state,
        rate=port.rate,
        model=chip(ca.type, ca.fw),
        most_gbps=most_gbps(ca.type),
        address=device.address,
        ports=len(ca.ports),
        adapter=ca.system_guid,
        subnet=ib_rails.subnet(fabric, ca, port),
        virtual=device.virtual,
        netdev=(rdma.netdev.value or "") if rdma else "",
        gids=rdma.gids if rdma else Reading(None, ethernet.ports.why or "it is no Ethernet port"),
        traffic_class=rdma.traffic_class.value if rdma else None,
    )


def _from_kernel(rdma: RocePort, ports: int) -> NcclPort:
    """A port that only the kernel tells of."""
    return NcclPort(
        device=rdma.device,
        num=rdma.num,
        layer=ETHERNET,
        state=rdma.state,
        rate=rdma.rate,
        model=chip(rdma.model, ""),
        most_gbps=most_gbps(rdma.model),
        address=rdma.address,
        ports=ports,
        virtual=rdma.virtual,
        netdev=rdma.netdev.value or "",
        gids=rdma.gids,
        traffic_class=rdma.traffic_class.value,
    )
