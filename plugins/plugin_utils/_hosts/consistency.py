# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold equal hosts against each other in all that they should have alike; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._areas.ib import area as ib
from ...module_utils._fleet import fleet_equals, fleet_names, fleet_same, fleet_time, ping, rack
from ...module_utils._fleet.fleet_same import NONE, Consistency, Facts, Kind
from ...module_utils._fleet.ping import Ping
from ...module_utils._ground.check import Check
from ...module_utils._parse.gid import ROUTABLE
from ...module_utils._rails.ib_ports import is_infiniband, port_name
from ...module_utils._rails.roce_ports import ROCE_V2, UNSET
from .._ground.dicts import as_dict, as_list, reading
from . import consistency_facts
from .hosts import Host, pci_places

_NO_CLOCK = "a bundle holds no visit of the controller by which its clock could be compared"
_ACTIVE = "Active"
_UNSET = "not set"


def owners(hosts: Sequence[Host], inventory: Sequence[str] = ()) -> dict[str, str]:
    """Whose name or address a word is by the inventory, of hosts that took no part as well."""
    return fleet_names.called(
        {name: (name,) for name in inventory} | {one.name: (one.name, *one.called) for one in hosts}
    )


def judge(
    hosts: Sequence[Host],
    size: int,
    inventory: Sequence[str] = (),
    told: Mapping[str, Sequence[Check]] | None = None,
) -> dict[str, list[Check]]:
    """Versions, models, settings and clocks of the hosts of which anything is known, and all else that is alike.

    ``inventory``: all hosts that there are. ``told``: what was found of each by others that compare hosts.
    """
    reported = [host for host in hosts if host.ib is not None]
    checks = fleet_same.judge({host.name: alike(host) for host in reported}, size)
    visits = {host.name: host.visit for host in reported}
    recorded = {host.name: _NO_CLOCK for host in reported if host.recorded}
    called = {host.name: name for host in reported if (name := str(host.node.get("hostname") or ""))}
    trays = rack.judge(dict(_trays(reported)))
    for found in (fleet_names.judge(called, owners(hosts, inventory)), fleet_time.judge(visits, size, recorded), trays):
        for name, more in found.items():
            checks[name] += more
    known = {
        host.name: fleet_equals.Told(
            as_dict(host.facts.get("equals")),
            as_dict(host.facts.get("own")),
            [*host.checks, *host.ports, *checks[host.name], *(told or {}).get(host.name, ())],
            host.expect,
        )
        for host in reported
    }
    groups = fleet_same.groups({host.name: kind(host) for host in reported}, size)
    for name, more in fleet_equals.judge(known, groups).items():
        checks[name] += more
    return checks


def _trays(hosts: Sequence[Host]) -> Iterator[tuple[str, rack.Tray]]:
    """The hosts of racks in which no scheduler looks after IMEX."""
    for host in hosts:
        told = as_dict(as_dict(host.facts.get("nvlink")).get("rack"))
        who = host.expect.get("imex")
        if told and not (who is not None and who.value == "job"):
            nodes = told.get("nodes")
            found = None if nodes is None else tuple(map(str, as_list(nodes)))
            yield host.name, rack.Tray(tuple(map(str, as_list(told.get("domains")))), found)


def compare(
    hosts: Sequence[Host], rails: Mapping[str, Sequence[str]], pings: Sequence[Ping], size: int
) -> dict[str, list[Check]]:
    """What only a diagnosis compares, as it may differ on sound hosts: PCIe links, round trips."""
    mine = [host for host in hosts if host.ib is not None]
    reported = {host.name: Consistency(kind(host), {"fleet.pci.link": _links(host)}) for host in mine}
    checks = fleet_same.judge(reported, size)
    asked = {name: names for name, names in rails.items() if name in reported}
    for name, more in ping.judge_times(asked, pings, size).items():
        checks[name] += more
    return checks


def kind(host: Host) -> Kind:
    """What a host is, as far as it told."""
    machine = as_dict(host.facts.get("machine"))
    system = as_dict(host.node.get("os"))
    product = machine.get("product")
    cas = host.ib.on_fabric().cas if host.ib is not None else ()
    return Kind(
        f"{product} {machine.get('arch') or ''}".strip() if product else "",
        f"{system.get('id', '')} {system.get('version', '')}".strip(),
        frozenset(str(gpu) for gpu in machine.get("gpus") or () if gpu),
        frozenset(ca.type for ca in cas if ca.type),
    )


def alike(host: Host) -> Consistency:
    """One host; whatever its facts do not hold in the shape that ours have was not told."""
    facts = {**consistency_facts.facts(host), **_ports(host)}
    return Consistency(kind(host), facts, consistency_facts.memory(host))


def _links(host: Host) -> dict[str, str]:
    """By address; of all but HCAs the lanes alone, for a GPU that rests has a slow link."""
    pci = as_dict(host.facts.get("pci"))
    machine: Mapping[str, Any] = as_dict(host.facts.get("machine"))
    hcas = {*as_dict(pci.get("rdma")).values(), *(machine.get("hcas") or ())}
    found = {}
    for address, link in as_dict(pci.get("links")).items():
        speed, lanes = as_dict(link).get("gts"), as_dict(link).get("lanes")
        if lanes is None or (address in hcas and speed is None):
            continue
        found[str(address)] = f"{speed:g} GT/s x{lanes}" if address in hcas else f"x{lanes}"
    return found


def _ports(host: Host) -> Facts:
    """By check and port, of Active rails alone: what is wrong with others is told by others."""
    roce = dict(_roce(host))
    return {
        "fleet.hca.order": _order(host),
        "fleet.port.mtu": {
            **dict(_infiniband_mtu(host)),
            **_told(roce, lambda entry: reading(entry.get("mtu"))),
        },
        "fleet.roce.gid": _told(roce, _gid),
        "fleet.roce.qos": _told(roce, _qos),
    }


def _order(host: Host) -> dict[str, str]:
    """Its rails by PCI address, each by its place in the order of names: most hosts have 1, 2, 3, ...

    Compared are hosts with as many rails: that one is gone is another check's. In a virtual machine
    addresses are the hypervisor's.
    """
    rails = ib.rails(host.ib, host.expect) if host.ib is not None else []
    virtual = as_dict(host.facts.get("machine")).get("virtual")
    if len(rails) < 2 or virtual or "pci" not in host.facts:
        return {}
    places = pci_places(host, rails)
    names = sorted(range(len(places)), key=lambda rail: places[rail])
    return {f"{len(rails)} rails": ", ".join(str(rail + 1) for rail in names)}


def _infiniband_mtu(host: Host) -> Iterator[tuple[str, str]]:
    if host.ib is None:
        return
    for ca, port in ib.rails(host.ib, host.expect):
        mtu = host.ib.detail(port_name(ca, port)).mtu
        if not is_infiniband(port) or port.state != _ACTIVE or mtu.missing:
            continue
        if host.ib.simulated and not mtu.known:
            continue
        yield port_name(ca, port), str(mtu.value.active) if mtu.value is not None else ""


def _roce(host: Host) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those that are rails by the definition that the checks judge by."""
    nccl = as_dict(as_dict(host.facts.get("nccl")).get("host"))
    reported = map(as_dict, as_list(as_dict(nccl.get("ports")).get("value")))
    rails = {f"{entry.get('device')}/{entry.get('num')}" for entry in reported if not entry.get("apart")}
    ports = as_dict(as_dict(host.facts.get("roce")).get("ports")).get("value")
    for item in map(as_dict, as_list(ports)):
        name = f"{item.get('device')}/{item.get('num')}"
        if item.get("state") == _ACTIVE and name in rails:
            yield name, item


def _told(ports: Mapping[str, Mapping[str, Any]], ask: Callable[[Mapping[str, Any]], str | None]) -> dict[str, str]:
    found = {name: ask(port) for name, port in ports.items()}
    return {name: value for name, value in found.items() if value is not None}


def _usable(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == ROCE_V2 and entry.get("kind") in ROUTABLE


def _gid(port: Mapping[str, Any]) -> str | None:
    """The first address that RoCE v2 can reach other hosts with: where, and of what family."""
    reported = as_dict(port.get("gids"))
    if reported.get("value") is None:
        return reading(reported)
    usable = (entry for entry in map(as_dict, as_list(reported["value"])) if _usable(entry))
    first = next(usable, None)
    return f"{first['type']} {first['kind']} at {first['index']}" if first else NONE


def _qos(port: Mapping[str, Any]) -> str:
    """Every line of what the port does with priorities; "" where one of them was not told."""
    qos = as_dict(port.get("qos"))
    lines = {
        "trust": reading(qos.get("trust")),
        "pfc": reading(qos.get("pfc"), _joined),
        "priority of dscp": reading(qos.get("priority"), _dscp),
        "ecn off": reading(qos.get("ecn"), _off),
        "traffic class": reading(port.get("traffic_class"), _number),
        "tos of the connection manager": reading(port.get("cm_tos"), _number),
    }
    if "" in lines.values():
        return ""
    return "\n".join(f"{name}: {_UNSET if line is None else line}" for name, line in lines.items())


def _joined(value: Any) -> str:
    return ",".join(str(entry) for entry in as_list(value)) or NONE


def _dscp(value: Any) -> str:
    """Only those that are not where they usually are, eight to a priority."""
    odd = [entry for entry in map(tuple, as_list(value)) if entry[1] != entry[0] // 8]
    return " ".join(f"{dscp}={priority}" for dscp, priority in odd) or "as usual"


def _off(value: Any) -> str:
    return ", ".join(str(entry[0]) for entry in map(tuple, as_list(value)) if not entry[1]) or NONE


def _number(value: Any) -> str:
    return _UNSET if value == UNSET else str(value)
