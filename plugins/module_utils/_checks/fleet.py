# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what must agree across hosts: facts of all hosts in, checks per host out, no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expected
from ansible_collections.ibready.cluster.plugins.module_utils._ib_facts import (
    IbFacts,
    is_infiniband,
    port_name,
)

CAPABILITY = "capability"
# Two hosts that differ have no majority; design 4.2.
MIN_FLEET = 3


@dataclass(frozen=True)
class HostFacts:
    """What of one host is compared with the others."""

    kernel: str
    ib: IbFacts


def judge(hosts: Mapping[str, HostFacts]) -> dict[str, list[Check]]:
    """Every fleet.* check, per host, over the hosts of which anything is known."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    kernels = {host: facts.kernel for host, facts in hosts.items()}
    _same("fleet.host.kernel", "host", kernels, hosts, checks)
    models = {host: ", ".join(sorted(ca.type for ca in one.ib.cas)) for host, one in hosts.items()}
    _same("fleet.hca.model", "host", models, hosts, checks)
    for device in sorted({ca.name for one in hosts.values() for ca in one.ib.cas}):
        versions = {
            host: ca.fw for host, one in hosts.items() for ca in one.ib.cas if ca.name == device
        }
        _same("fleet.hca.firmware", device, versions, hosts, checks)
    _unique_guids(hosts, checks)
    _unique_lids(hosts, checks)
    _single_sm(hosts, checks)
    return checks


def expectations(hosts: Mapping[str, HostFacts]) -> dict[str, Expected]:
    """What most hosts have, for keys that nobody else expects anything of; {} below 3 hosts."""
    counted: dict[str, list[object]] = {"hcas": [], "link_layer": [], "rate_gbps": []}
    for one in hosts.values():
        ports = [(ca, port) for ca in one.ib.cas for port in ca.ports]
        if not ports:
            continue
        layers = Counter("InfiniBand" if is_infiniband(p) else p.link_layer for _, p in ports)
        layer = layers.most_common(1)[0][0]
        same = [
            (c, p)
            for c, p in ports
            if ("InfiniBand" if is_infiniband(p) else p.link_layer) == layer
        ]
        counted["link_layer"].append(layer)
        counted["hcas"].append(len({ca.name for ca, _ in same}))
        rates = Counter(p.rate for _, p in same if p.rate and p.state == "Active")
        if rates:
            counted["rate_gbps"].append(rates.most_common(1)[0][0])
    result: dict[str, Expected] = {}
    for key, values in counted.items():
        majority = _majority([str(value) for value in values])
        if majority is not None:
            text, times = majority
            value = next(one for one in values if str(one) == text)
            result[key] = Expected(value, f"fleet {times}/{len(values)}")
    return result


def _majority(values: list[str]) -> tuple[str, int] | None:
    """The value that more than half of at least three have, and how many have it."""
    if len(values) < MIN_FLEET:
        return None
    value, times = Counter(values).most_common(1)[0]
    return (value, times) if 2 * times > len(values) else None


def _same(
    check_id: str,
    subject: str,
    values: Mapping[str, str],
    hosts: Mapping[str, HostFacts],
    checks: dict[str, list[Check]],
) -> None:
    known = {host: value for host, value in values.items() if value}
    majority = _majority(list(known.values()))
    for host in hosts:
        if host not in known:
            if host in values or not hosts[host].ib.cas:
                checks[host].append(unknown(check_id, subject, "the host did not tell"))
            continue
        value = known[host]
        if len(known) == 1:
            checks[host].append(skipped(check_id, subject, "no other host to compare with"))
        elif majority is not None:
            usual, times = majority
            source = f"fleet {times}/{len(known)}"
            if value == usual:
                checks[host].append(passed(check_id, subject, value, usual, source))
            else:
                checks[host].append(failed(check_id, subject, value, usual, source))
        elif len(set(known.values())) == 1:
            source = f"fleet {len(known)}/{len(known)}"
            checks[host].append(passed(check_id, subject, value, value, source))
        else:
            seen = Counter(known.values()).most_common()
            why = "no majority: " + ", ".join(f"{text} on {times}" for text, times in seen)
            checks[host].append(unknown(check_id, subject, why, observed=value))


def _unique_guids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    owners: dict[str, list[str]] = {}
    for host, one in hosts.items():
        for ca in one.ib.cas:
            owners.setdefault(ca.node_guid, []).append(f"{host} {ca.name}")
    for host, one in hosts.items():
        for ca in one.ib.cas:
            if not ca.node_guid:
                checks[host].append(unknown("fleet.hca.guid_unique", ca.name, "no GUID shown"))
                continue
            others = [name for name in owners[ca.node_guid] if name != f"{host} {ca.name}"]
            checks[host].append(_unique("fleet.hca.guid_unique", ca.name, ca.node_guid, others))


def _unique_lids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """LIDs are unique within a subnet, and a subnet is known by its master's GUID."""
    owners: dict[tuple[str, int], list[str]] = {}
    mine: list[tuple[str, str, tuple[str, int]]] = []
    for host, one in hosts.items():
        for ca in one.ib.cas:
            for port in ca.ports:
                if not is_infiniband(port) or port.state != "Active" or not port.lid:
                    continue
                name = port_name(ca, port)
                answer = one.ib.sm.get(name)
                subnet = answer.sm.guid if answer is not None and answer.sm is not None else ""
                owners.setdefault((subnet, port.lid), []).append(f"{host} {name}")
                mine.append((host, name, (subnet, port.lid)))
    for host, name, key in mine:
        if not key[0]:
            why = "the subnet is not known: its subnet manager did not answer"
            checks[host].append(unknown("fleet.port.lid_unique", name, why, observed=key[1]))
            continue
        others = [owner for owner in owners[key] if owner != f"{host} {name}"]
        checks[host].append(_unique("fleet.port.lid_unique", name, str(key[1]), others))


def _unique(check_id: str, subject: str, value: str, others: list[str]) -> Check:
    if others:
        observed = f"{value}, also on {', '.join(others)}"
        return failed(check_id, subject, observed, "on no other", CAPABILITY)
    return passed(check_id, subject, value, "on no other", CAPABILITY)


def _single_sm(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """Per rail (port name): every host must be told of the same master."""
    rails = sorted({name for one in hosts.values() for name in one.ib.sm})
    for rail in rails:
        masters: dict[str, str] = {}
        for host, one in hosts.items():
            answer = one.ib.sm.get(rail)
            if answer is not None and answer.sm is not None:
                masters[host] = f"lid {answer.sm.lid} guid {answer.sm.guid}"
        seen = Counter(masters.values()).most_common()
        for host, one in hosts.items():
            if rail not in one.ib.sm:
                continue
            if host not in masters:
                why = "the subnet manager did not answer (fabric.sm.answers)"
                checks[host].append(unknown("fleet.sm.single", rail, why))
            elif len(seen) == 1:
                checks[host].append(
                    passed("fleet.sm.single", rail, masters[host], "one master", CAPABILITY)
                )
            elif masters[host] != seen[0][0] or 2 * seen[0][1] <= len(masters):
                observed = "; ".join(f"{text} on {times} hosts" for text, times in seen)
                checks[host].append(
                    failed(
                        "fleet.sm.single",
                        rail,
                        f"{masters[host]} here; {observed}",
                        "one master",
                        CAPABILITY,
                    )
                )
            else:
                checks[host].append(
                    passed("fleet.sm.single", rail, masters[host], "one master", CAPABILITY)
                )
