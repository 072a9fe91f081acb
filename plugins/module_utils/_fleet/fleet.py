# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what must agree across hosts: facts of all hosts in, checks per host out, no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Iterable, Mapping, Sequence

from .._expect.expectations import CAPABILITY, Expected
from .._ground.check import FAIL, Check, failed, passed, unknown
from .._ground.equals import most_have
from .._ground.link import INFINIBAND
from .._parse.ibstat import Port
from .._rails.ib_ports import IbFacts, is_infiniband, layer, port_name
from . import claims
from .fleet_same import Group, Kind, groups, same

_GUIDS, _LIDS = "fleet.hca.guid_unique", "fleet.port.lid_unique"
_ASK_FIRST = "fix what kept ibstat from telling it, then verify again"
_KERNEL = "fleet.host.kernel"
_TRACE = (
    "trace the cable of this rail to its switch, and plug it where the same rail of the other hosts is; only where it "
    "is there already, the fabric is split or has two masters"
)


@dataclass(frozen=True)
class HostFacts:
    """What of one host is compared with the others."""

    kernel: str
    ib: IbFacts
    kind: Kind = field(default_factory=Kind)


def judge(hosts: Mapping[str, HostFacts], size: int, seen: claims.Seen = claims.nobody) -> dict[str, list[Check]]:
    """Kernel, HCAs and what must be unique, per host, over the hosts of which anything is known.

    ``size`` is how many hosts the inventory has. Only a fleet of one has nothing to compare. ``seen``: what hosts saw
    of the others' GUIDs and LIDs on the fabric.
    """
    reported, hosts = hosts, _on_fabric(hosts)
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups({host: entry.kind for host, entry in hosts.items()}, size):
        mine = {host: hosts[host] for host in group.hosts}
        kernels = {host: facts.kernel for host, facts in mine.items()}
        same(_KERNEL, "host", kernels, checks, group)
        _systems({host: entry.kind.system for host, entry in mine.items()}, checks)
        models = {host: _models(entry.ib, reported[host].ib) for host, entry in mine.items()}
        same("fleet.hca.model", "host", models, checks, group, _ASK_FIRST)
        _firmware(mine, checks, group)
    _unique_guids(hosts, checks, seen)
    _unique_lids(hosts, checks, seen)
    _single_sm(hosts, checks)
    return checks


def _systems(systems: Mapping[str, str], checks: dict[str, list[Check]]) -> None:
    """Say of a host with another distribution that this is why its kernel is another."""
    usual = most_have([system for system in systems.values() if system])
    for host, system in systems.items():
        if usual is not None and system not in ("", usual[0]):
            cause = f"it runs {system}, and its equals {usual[0]} (/etc/os-release)"
            remedy = "install the distribution of its equals; if it is meant, give it an inventory of its own"
            checks[host] = [
                replace(check, cause=cause, remedy=remedy) if (check.id, check.result) == (_KERNEL, FAIL) else check
                for check in checks[host]
            ]


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


def _unique_guids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]], seen: claims.Seen) -> None:
    """Node GUIDs among HCAs and, as they have a space of their own, port GUIDs among ports."""
    cas = [(host, ca) for host, entry in hosts.items() for ca in entry.ib.cas]
    mine = [(claims.NODE, claims.Claim(host, ca.name, ca.node_guid, _lids(ca.ports))) for host, ca in cas]
    mine += [
        (claims.PORT, claims.Claim(host, port_name(ca, port), port.port_guid, _lids([port])))
        for host, ca in cas
        for port in ca.ports
        if is_infiniband(port)
    ]
    every = claims.Claims(seen)
    for kind, claim in mine:
        every.add((kind, _guid(claim.shown)), claim)
    for kind, claim in mine:
        if claim.shown:
            found = every.judged(_GUIDS, [(kind, _guid(claim.shown))], claim)
        else:
            found = unknown(_GUIDS, claim.subject, "no GUID shown")
        checks[claim.host].append(found)


def _lids(ports: Iterable[Port]) -> frozenset[object]:
    return frozenset(port.lid for port in ports if port.lid)


def _unique_lids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]], seen: claims.Seen) -> None:
    """LIDs are unique within a subnet, which is known by its master; a port owns 2^LMC of them."""
    every = claims.Claims(seen)
    mine: list[tuple[claims.Claim, list[claims.Key]]] = []
    for host, entry in hosts.items():
        for ca in entry.ib.cas:
            for port in ca.ports:
                if not is_infiniband(port) or port.state != "Active" or not port.lid:
                    continue
                claim = claims.Claim(host, port_name(ca, port), str(port.lid), frozenset({_guid(port.port_guid)}))
                subnet = _subnet(entry.ib, claim.subject)
                lids = range(port.lid, port.lid + (1 << max(0, min(port.lmc or 0, 7))))
                keys: list[claims.Key] = [(claims.LID, subnet, lid) for lid in lids if subnet is not None]
                mine.append((claim, keys))
                for key in keys:
                    every.add(key, claim)
    for claim, keys in mine:
        if keys:
            found = every.judged(_LIDS, keys, claim)
        else:
            why = "the subnet is not known: its subnet manager did not answer"
            found = unknown(_LIDS, claim.subject, why, observed=claim.shown)
        checks[claim.host].append(found)


def _subnet(facts: IbFacts, port: str) -> int | None:
    """The GUID of the master that serves a port; None where it is not known."""
    answer = facts.sm.get(port)
    if answer is None or answer.sm is None:
        return None
    guid = _guid(answer.sm.guid)
    return guid if isinstance(guid, int) else None


def _guid(text: str) -> int | str:
    """Its number, however it is written; the text of one that is masked or damaged."""
    try:
        return int(text.replace(":", ""), 16)
    except ValueError:
        return text.lower()


@dataclass(frozen=True)
class _Place:
    """On which fabric a rail is: the master that it hears, and its subnet's prefix; "" where nobody tells."""

    master: str = ""
    prefix: str = ""


def _single_sm(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """Per rail (port name): every host must be told of the same master, on a subnet of the same prefix."""
    prefixes = {host: _prefixes(entry.ib) for host, entry in hosts.items()}
    rails = {name for host, entry in hosts.items() for name in (*entry.ib.sm, *prefixes[host])}
    seen = {
        rail: {host: _place(entry.ib, rail, prefixes[host].get(rail, "")) for host, entry in hosts.items()}
        for rail in sorted(rails)
    }
    usual = {rail: _usual(list(places.values())) for rail, places in seen.items()}
    for rail, places in seen.items():
        masters = Counter(place.master for place in places.values() if place.master).most_common()
        for host, place in places.items():
            strayed = "" not in (place.prefix, usual[rail].prefix) and place.prefix != usual[rail].prefix
            if not strayed and rail not in hosts[host].ib.sm:
                continue
            if not strayed and not place.master:
                why = "the subnet manager did not answer (fabric.sm.answers)"
                checks[host].append(unknown("fleet.sm.single", rail, why))
            elif not strayed and place.master == usual[rail].master:
                checks[host].append(passed("fleet.sm.single", rail, place.master, "one master", CAPABILITY))
            else:
                told = [f"{place.master or 'no answer'} here", *(f"{text} on {times} hosts" for text, times in masters)]
                if strayed:
                    told.append(f"subnet prefix {place.prefix} here, {usual[rail].prefix} on most")
                cause = _elsewhere(rail, {name: others[host] for name, others in seen.items()}, usual, places, strayed)
                found = failed("fleet.sm.single", rail, "; ".join(told), "one master", CAPABILITY, cause=cause)
                checks[host].append(replace(found, remedy=_TRACE) if cause else found)


def _prefixes(facts: IbFacts) -> dict[str, str]:
    """By port; one that is not Active is on no subnet, and has the prefix that all begin with."""
    ports = [(port_name(ca, port), port) for ca in facts.cas for port in ca.ports if is_infiniband(port)]
    return {name: facts.detail(name).prefix for name, port in ports if port.state == "Active"}


def _place(facts: IbFacts, rail: str, prefix: str) -> _Place:
    answer = facts.sm.get(rail)
    if answer is None or answer.sm is None:
        return _Place(prefix=prefix)
    guid = _subnet(facts, rail)
    return _Place(f"lid {answer.sm.lid} guid {answer.sm.guid if guid is None else f'{guid:#x}'}", prefix)


def _usual(places: Sequence[_Place]) -> _Place:
    """What more than half of those have that tell, "" without such a majority."""

    def most(values: list[str]) -> str:
        value, times = Counter(values).most_common(1)[0] if values else ("", 0)
        return value if 2 * times > len(values) else ""

    masters, prefixes = [place.master for place in places], [place.prefix for place in places]
    return _Place(most([master for master in masters if master]), most([prefix for prefix in prefixes if prefix]))


def _elsewhere(
    rail: str, mine: Mapping[str, _Place], usual: Mapping[str, _Place], same: Mapping[str, _Place], strayed: bool
) -> str:
    """Whose fabric a host's rail is on, where that is surely not its own; "" where the fabric may be split.

    ``mine``: all rails of the host; ``usual``: of most hosts, by rail; ``same``: this rail by host.
    """
    here, due = mine[rail], usual[rail]
    others = [name for name, place in usual.items() if here.master and here.master == place.master != due.master]
    if others and due.master:
        return f"this rail is on the fabric of {others[0]}: two cables are exchanged, or one is in the wrong switch"
    count = sum(place == due for place in same.values())
    if strayed and here.master == due.master != "":
        return f"its subnet's prefix is not that of the same rail of {count} hosts: its manager has not set it up anew"
    alike = sum(place.master == here.master for place in same.values())
    well = any(place.master and place.master == usual[name].master for name, place in mine.items())
    if strayed or (due.master and well and alike == 1):
        return f"this rail alone is on another fabric than the same rail of {count} hosts: its cable leads elsewhere"
    if due.master and well:
        return f"this rail of {alike} hosts is on another fabric than that of {count}: wrong cables, or a split fabric"
    return ""
