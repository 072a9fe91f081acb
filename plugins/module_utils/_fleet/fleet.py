# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what must agree across hosts: facts of all hosts in, checks per host out, no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Mapping, Sequence

from .._expect.expectations import CAPABILITY, Expected
from .._ground.check import Check, failed, passed, unknown
from .._ground.equals import most_have
from .._ground.link import INFINIBAND
from .._rails.ib_ports import IbFacts, is_infiniband, layer, port_name
from .fleet_same import Group, Kind, groups, same

_ASK_FIRST = "fix what kept ibstat from telling it, then verify again"
_SHOWN = 4


@dataclass(frozen=True)
class HostFacts:
    """What of one host is compared with the others."""

    kernel: str
    ib: IbFacts
    kind: Kind = field(default_factory=Kind)


def judge(hosts: Mapping[str, HostFacts], size: int) -> dict[str, list[Check]]:
    """Kernel, HCAs and what must be unique, per host, over the hosts of which anything is known.

    ``size`` is how many hosts the inventory has. Only a fleet of one has nothing to compare.
    """
    reported, hosts = hosts, _on_fabric(hosts)
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups({host: entry.kind for host, entry in hosts.items()}, size):
        mine = {host: hosts[host] for host in group.hosts}
        kernels = {host: facts.kernel for host, facts in mine.items()}
        same("fleet.host.kernel", "host", kernels, checks, group)
        models = {host: _models(entry.ib, reported[host].ib) for host, entry in mine.items()}
        same("fleet.hca.model", "host", models, checks, group, _ASK_FIRST)
        _firmware(mine, checks, group)
    _unique_guids(hosts, checks)
    _unique_lids(hosts, checks)
    _single_sm(hosts, checks)
    return checks


def _firmware(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]], group: Group) -> None:
    """Of HCAs of one model and board id, by the device's name."""
    reported: dict[tuple[str, str, str], dict[str, str]] = {}
    silent = {host for host, entry in hosts.items() if not entry.ib.cas}
    for host, item in hosts.items():
        for ca in item.ib.cas:
            key = (ca.name, ca.type, item.ib.device(ca.name).board)
            reported.setdefault(key, {})[host] = ca.fw
    with_board = {key[:2] for key in reported if key[2]}
    for (name, model, board), values in sorted(reported.items()):
        if not board and len(values) == 1 and (name, model) in with_board:
            # It may be of its equals' board or of another: nothing can be said of its firmware.
            values = dict.fromkeys(values, "")
        values.update(dict.fromkeys(silent, ""))
        same("fleet.hca.firmware", name, values, checks, group, _ASK_FIRST)


def expectations(hosts: Mapping[str, HostFacts]) -> dict[str, dict[str, Expected]]:
    """What most of its equals have, by host, for keys that nobody else expects anything of; {}
    below 3 equals."""
    hosts = _on_fabric(hosts)
    found: dict[str, dict[str, Expected]] = {}
    for group in groups({host: entry.kind for host, entry in hosts.items()}, len(hosts)):
        usual = _expected({host: hosts[host] for host in group.hosts})
        found.update((host, usual) for host in group.hosts)
    return found


def _expected(hosts: Mapping[str, HostFacts]) -> dict[str, Expected]:
    counted: dict[str, list[object]] = {"hcas": [], "link_layer": [], "rate_gbps": []}
    for host in hosts.values():
        layers = Counter(layer(port) for ca in host.ib.cas for port in ca.ports)
        # A whole fleet in the wrong port mode must not expect itself.
        if not layers or layers.most_common(1)[0][0] != INFINIBAND:
            continue
        ports = [(ca, p) for ca in host.ib.cas for p in ca.ports if is_infiniband(p)]
        counted["link_layer"].append(INFINIBAND)
        counted["hcas"].append(len({ca.name for ca, _unused in ports}))
        rates = Counter(p.rate for _unused, p in ports if p.rate and p.state == "Active")
        if rates:
            counted["rate_gbps"].append(rates.most_common(1)[0][0])
    result: dict[str, Expected] = {}
    for key, values in counted.items():
        majority = most_have([str(value) for value in values])
        if majority is not None:
            text, times = majority
            value = next(value for value in values if str(value) == text)
            result[key] = Expected(value, f"fleet {times}/{len(values)}")
    return result


def _on_fabric(hosts: Mapping[str, HostFacts]) -> dict[str, HostFacts]:
    return {name: replace(host, ib=host.ib.on_fabric()) for name, host in hosts.items()}


def _models(facts: IbFacts, told: IbFacts) -> str:
    """The HCA models of one host; "" where any of them is not shown."""
    types = sorted(ca.type for ca in facts.cas)
    if told.cas and not types:
        return "no HCA on the fabric"
    return ", ".join(types) if all(types) else ""


def _unique_guids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """Node GUIDs among HCAs and, as they have a space of their own, port GUIDs among ports."""
    nodes = [(host, ca.name, ca.node_guid) for host, entry in hosts.items() for ca in entry.ib.cas]
    ports = [
        (host, port_name(ca, port), port.port_guid)
        for host, entry in hosts.items()
        for ca in entry.ib.cas
        for port in ca.ports
        if is_infiniband(port)
    ]
    for mine in (nodes, ports):
        owners: dict[str, list[str]] = {}
        for host, subject, guid in mine:
            owners.setdefault(guid.lower(), []).append(f"{host} {subject}")
        for host, subject, guid in mine:
            if not guid:
                checks[host].append(unknown("fleet.hca.guid_unique", subject, "no GUID shown"))
                continue
            shared = owners[guid.lower()]
            checks[host].append(_unique("fleet.hca.guid_unique", subject, guid, shared, f"{host} {subject}"))


def _unique_lids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """LIDs are unique within a subnet, which is known by its master; a port owns 2^LMC of them."""
    owners: dict[tuple[int, int], list[str]] = {}
    mine: list[tuple[str, str, int | None, range]] = []
    for host, entry in hosts.items():
        for ca in entry.ib.cas:
            for port in ca.ports:
                if not is_infiniband(port) or port.state != "Active" or not port.lid:
                    continue
                name = port_name(ca, port)
                subnet = _subnet(entry.ib, name)
                lids = range(port.lid, port.lid + (1 << max(0, min(port.lmc or 0, 7))))
                mine.append((host, name, subnet, lids))
                if subnet is None:
                    continue
                for lid in lids:
                    owners.setdefault((subnet, lid), []).append(f"{host} {name}")
    for host, name, subnet, lids in mine:
        if subnet is None:
            why = "the subnet is not known: its subnet manager did not answer"
            checks[host].append(unknown("fleet.port.lid_unique", name, why, observed=lids[0]))
            continue
        claimed = {owner for lid in lids for owner in owners[(subnet, lid)][: _SHOWN + 2]}
        checks[host].append(_unique("fleet.port.lid_unique", name, str(lids[0]), sorted(claimed), f"{host} {name}"))


def _subnet(facts: IbFacts, port: str) -> int | None:
    """The GUID of the master that serves a port; None where it is not known."""
    answer = facts.sm.get(port)
    if answer is None or answer.sm is None:
        return None
    try:
        return int(answer.sm.guid, 16)
    except ValueError:
        return None


def _unique(check_id: str, subject: str, value: str, owners: Sequence[str], me: str) -> Check:
    """``owners``: all that have it, ``me`` among them; the first few others are named."""
    # Of thousands that share one GUID nobody reads all.
    others = list(islice((owner for owner in owners if owner != me), _SHOWN + 1))
    if others:
        more = ", ..." if len(others) > _SHOWN else ""
        observed = f"{value}, also on {', '.join(others[:_SHOWN])}{more}"
        return failed(check_id, subject, observed, "on no other", CAPABILITY)
    return passed(check_id, subject, value, "on no other", CAPABILITY)


def _single_sm(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """Per rail (port name): every host must be told of the same master."""
    rails = sorted({name for host in hosts.values() for name in host.ib.sm})
    for rail in rails:
        masters: dict[str, str] = {}
        for host, entry in hosts.items():
            answer = entry.ib.sm.get(rail)
            if answer is not None and answer.sm is not None:
                guid = _subnet(entry.ib, rail)
                shown = answer.sm.guid if guid is None else f"{guid:#x}"
                masters[host] = f"lid {answer.sm.lid} guid {shown}"
        seen = Counter(masters.values()).most_common()
        for host, item in hosts.items():
            if rail not in item.ib.sm:
                continue
            if host not in masters:
                why = "the subnet manager did not answer (fabric.sm.answers)"
                checks[host].append(unknown("fleet.sm.single", rail, why))
            elif masters[host] != seen[0][0] or 2 * seen[0][1] <= len(masters):
                observed = "; ".join(f"{text} on {times} hosts" for text, times in seen)
                checks[host].append(
                    failed("fleet.sm.single", rail, f"{masters[host]} here; {observed}", "one master", CAPABILITY)
                )
            else:
                checks[host].append(passed("fleet.sm.single", rail, masters[host], "one master", CAPABILITY))
