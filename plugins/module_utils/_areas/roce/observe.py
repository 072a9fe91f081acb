# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of RoCE ports."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TypeVar

from ..._data import rdma_drivers
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.link import ETHERNET
from ..._ground.reading import Reading
from ..._ground.text import ParseError, to_int
from ..._parse import dcb, gid, lldpctl, mlnx_qos, mlxlink
from ..._parse.ibstat import Ca, Port
from ..._rails import nccl_number
from ..._rails.roce_ports import UNSET, Counted, GidEntry, Qos, RoceFacts, RocePort
from ..ib import observe_port, observe_roce, sysfs
from ..machine import network
from ..machine.facts import Machine, PciFunction

T = TypeVar("T")

_NET = "/sys/class/net"
_SWITCHES = tuple(f"{side}/{priority}" for side in ("roce_np", "roce_rp") for priority in range(8))
IB = "/sys/class/infiniband"
CM = "/sys/kernel/config/rdma_cm"
# Tables have 256 entries and more, filled from the start: so many empty ones in a row, after an
# address that other hosts can be reached with, are the end of what is in use.
_EMPTY_ROW = 32
_TCLASS = re.compile(r"Global tclass=([0-9]{1,3})")
_INTERFACE = re.compile(r"[^/\s]{1,40}")


def observe(evidence: Evidence, machine: Machine) -> RoceFacts:
    """Every RDMA port with an Ethernet link layer; of an InfiniBand port nothing is asked."""
    devices = ask.names(evidence, IB).map(tuple)
    if devices.value is None:
        return RoceFacts(devices, Reading(None, devices.why, devices.missing), _nccl_tc(evidence))
    try:
        found = sysfs.read_cas(evidence)
    except (Unavailable, ParseError) as exc:
        return RoceFacts(devices, Reading(None, str(exc)), _nccl_tc(evidence))
    closed = [ca.name for ca in found if ca.n_ports is None]
    if closed:
        return RoceFacts(devices, Reading(None, f"{', '.join(closed)}: the ports cannot be listed"), _nccl_tc(evidence))
    blank = [f"{ca.name}/{port.num}" for ca in found for port in ca.ports if not port.link_layer]
    if blank:
        why = f"{', '.join(blank)}: the kernel shows no link layer"
        return RoceFacts(devices, Reading(None, why), _nccl_tc(evidence))
    ethernet = [(ca, port) for ca in found for port in ca.ports if port.link_layer == ETHERNET]
    counted = observe_roce.read(evidence, observe_roce.counting(evidence, ethernet))
    ports = tuple(
        replace(_port(evidence, machine, ca, port), counters=counted.get(f"{ca.name}/{port.num}", Counted()))
        for ca, port in ethernet
    )
    return RoceFacts(devices, Reading(ports), _nccl_tc(evidence))


def _port(evidence: Evidence, machine: Machine, ca: Ca, port: Port) -> RocePort:
    base = f"{IB}/{ca.name}"
    address, driver, function = _function(evidence, machine, base)
    gids, gids_read = _gids(evidence, f"{base}/ports/{port.num}")
    netdev = _netdev(evidence, base, port.num, gids)
    uplink = _uplink(evidence, base, port.num, netdev)
    shown = f"{_NET}/{netdev.value}" if netdev.value else ""
    silent = port.state != "Down" or function is None or function.virtual or bool(machine.surely_simulated)
    return RocePort(
        device=ca.name,
        num=port.num,
        model=ca.type,
        address=address,
        driver=driver,
        protocol=_protocol(evidence, base, address, driver),
        virtual=bool(function and function.virtual),
        beside=function is not None and network.beside(function, machine.cards),
        state=port.state,
        physical_state=port.physical_state,
        rate=port.rate,
        netdev=netdev,
        uplink=uplink.value or "",
        operstate=ask.text(evidence, f"{shown}/operstate") if shown else _same(netdev),
        carrier=ask.text(evidence, f"{shown}/carrier").map(lambda text: text == "1") if shown else _same(netdev),
        mtu=ask.file(evidence, f"{shown}/mtu", to_int) if shown else _same(netdev),
        gids=gids,
        gids_read=gids_read,
        qos=_observe(evidence, uplink),
        traffic_class=ask.file(evidence, f"{base}/tc/{port.num}/traffic_class", _tclass),
        cm_tos=ask.file(evidence, f"{CM}/{ca.name}/ports/{port.num}/default_roce_tos", to_int),
        cm_mode=ask.text(evidence, f"{CM}/{ca.name}/ports/{port.num}/default_roce_mode"),
        neighbours=_neighbours(evidence, uplink),
        link=Reading() if silent else observe_port.told_of_link(evidence, ca, port, mlxlink.parse),
    )


def _neighbours(evidence: Evidence, uplink: Reading[str]) -> Reading[tuple[lldpctl.Neighbour, ...]]:
    """Those on the interface of the function itself: LLDP goes over no bond and no VLAN."""
    if uplink.value is None:
        return _same(uplink)
    heard = ask.optional(evidence, "lldpctl", lldpctl.parse)
    return heard.map(lambda every: tuple(entry for entry in every if entry.interface == uplink.value))


def _same(reading: Reading[str]) -> Reading[T]:
    return Reading(None, reading.why or "the port has no network interface")


def _function(evidence: Evidence, machine: Machine, base: str) -> tuple[str, str, PciFunction | None]:
    """PCI address, driver, and the function as the bus has it; "" and None for software devices."""
    target = ask.link(evidence, f"{base}/device").value
    if not target:
        return "", "", None
    address = posixpath.basename(target.rstrip("/"))
    known = next((function for function in machine.functions if function.address == address), None)
    driver = known.driver if known and known.driver is not None else None
    if driver is None:
        bound = ask.link(evidence, f"{base}/device/driver").value or ""
        driver = posixpath.basename(bound)
    return address, driver, known


def _protocol(evidence: Evidence, base: str, address: str, driver: str) -> str:
    if ask.text(evidence, f"{base}/node_type").value == rdma_drivers.IWARP_NODE:
        return rdma_drivers.IWARP
    if address:
        return rdma_drivers.PROTOCOLS.get(driver, "")
    device = ask.link(evidence, f"{base}/device")
    return rdma_drivers.SOFTWARE if device.missing else ""


def _gids(evidence: Evidence, base: str) -> tuple[Reading[tuple[GidEntry, ...]], int]:
    """The entries in use, and how many of the table were read."""
    names = ask.names(evidence, f"{base}/gids")
    if names.value is None:
        return Reading(None, names.why), 0
    indexes = sorted(int(name) for name in names.value if name.isascii() and name.isdecimal())
    found: list[GidEntry] = []
    empty = 0
    for index in indexes:
        if empty >= _EMPTY_ROW and any(item.usable for item in found):
            return Reading(tuple(found)), index
        entry = ask.file(evidence, f"{base}/gids/{index}", gid.parse)
        if entry.value is None:
            return Reading(None, entry.why), index
        empty = empty + 1 if entry.value.kind == gid.EMPTY else 0
        if empty:
            continue
        # The kernel refuses to tell the type and interface of an entry that is not in use.
        kind = ask.text(evidence, f"{base}/gid_attrs/types/{index}")
        if kind.value is None:
            return Reading(None, kind.why), index
        netdev = ask.text(evidence, f"{base}/gid_attrs/ndevs/{index}").value or ""
        found.append(GidEntry(index, entry.value.address, entry.value.kind, kind.value, netdev))
    return Reading(tuple(found)), len(indexes)


def _netdev(evidence: Evidence, base: str, num: int, gids: Reading[tuple[GidEntry, ...]]) -> Reading[str]:
    """The interface that the port's addresses are on: a bond's or a VLAN's, where there is one.

    Soft RoCE says itself which one it sits on.
    """
    parent = ask.text(evidence, f"{base}/parent").value or ""
    if _INTERFACE.fullmatch(parent):
        return Reading(parent)
    # A VLAN's address is what jobs use; the interface below it may have a link-local one alone.
    for entry in sorted(gids.value or (), key=lambda entry: not entry.usable):
        if _INTERFACE.fullmatch(entry.netdev):
            return Reading(entry.netdev)
    return observe_roce.port_netdev(evidence, base, num)


def _uplink(evidence: Evidence, base: str, num: int, netdev: Reading[str]) -> Reading[str]:
    """The interface of the function itself, which keeps the priorities; a bond keeps none."""
    own = observe_roce.own_netdevs(evidence, base).value or []
    return netdev if not own or netdev.value in own else observe_roce.port_netdev(evidence, base, num)


def _tclass(text: str) -> int:
    """The first line of the driver's traffic class file; empty where nothing is set."""
    match = _TCLASS.match(text)
    if match is not None:
        return int(match.group(1))
    if text:
        raise ValueError("not 'Global tclass=N'")
    return UNSET


def _nccl_tc(evidence: Evidence) -> Reading[int]:
    return nccl_number.read(evidence, "NCCL_IB_TC", UNSET)


def _observe(evidence: Evidence, uplink: Reading[str]) -> Qos:
    """All of it, of the interface of this name."""
    if uplink.value is None:
        why = uplink.why or "the port has no network interface"
        return Qos(*(Reading(None, why) for _turn in range(5)))
    name = uplink.value
    reported = ask.command(evidence, "mlnx_qos", mlnx_qos.parse, "-i", name)
    ecn = _ecn(evidence, f"{_NET}/{name}/ecn")
    cnp = ask.file(evidence, f"{_NET}/{name}/ecn/roce_np/cnp_dscp", to_int)
    if reported.value is not None and reported.value.trust and reported.value.pfc is not None:
        priority = Reading(reported.value.priority)
        return Qos(Reading(reported.value.trust), Reading(reported.value.pfc), priority, ecn, cnp)
    pfc = ask.command(evidence, "dcb", dcb.parse_pfc, "pfc", "show", "dev", name)
    rules = ask.command(evidence, "dcb", dcb.parse_app, "app", "show", "dev", name)
    return Qos(
        _or_why(rules.map(lambda found: "dscp" if found else "pcp"), reported),
        _or_why(pfc, reported),
        _or_why(rules, reported),
        ecn,
        cnp,
    )


def _or_why(reading: Reading[T], first: Reading[mlnx_qos.Qos]) -> Reading[T]:
    return reading if reading.known else Reading(None, f"{first.why}; {reading.why}")


def _ecn(evidence: Evidence, base: str) -> Reading[tuple[tuple[str, bool], ...]]:
    there = ask.names(evidence, base)
    if there.value is None:
        return Reading(None, there.why, there.missing)
    found = []
    for switch in _SWITCHES:
        side, priority = switch.split("/")
        reported = ask.text(evidence, f"{base}/{side}/enable/{priority}")
        if reported.value is None:
            return Reading(None, reported.why)
        found.append((switch, reported.value == "1"))
    return Reading(tuple(found))
