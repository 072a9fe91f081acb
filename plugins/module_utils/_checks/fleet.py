# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what must agree across hosts: facts of all hosts in, checks per host out, no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY, Expected
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    INFINIBAND,
    IbFacts,
    is_infiniband,
    layer,
    port_name,
)

_SILENT = "the host did not tell"
_ASK_OTHERS = "verify without --limit, and mend what kept the others from telling"
_ASK_FIRST = "mend what kept ibstat from telling it, then verify again"
# Two hosts that differ have no majority; design 4.2.
MIN_FLEET = 3
# How the reason begins where hosts differ and nobody can tell which of them is right.
NO_MAJORITY = "no majority: "


@dataclass(frozen=True)
class HostFacts:
    """What of one host is compared with the others."""

    kernel: str
    ib: IbFacts


def judge(hosts: Mapping[str, HostFacts], size: int) -> dict[str, list[Check]]:
    """Every fleet.* check, per host, over the hosts of which anything is known.

    ``size`` is how many hosts the inventory has. Only a fleet of one has nothing to compare.
    """
    hosts = _on_fabric(hosts)
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    kernels = {host: facts.kernel for host, facts in hosts.items()}
    same("fleet.host.kernel", "host", kernels, checks, size)
    models = {host: _models(one.ib) for host, one in hosts.items()}
    same("fleet.hca.model", "host", models, checks, size)
    for device in sorted({ca.name for one in hosts.values() for ca in one.ib.cas}):
        versions = {host: "" for host, one in hosts.items() if not one.ib.cas}
        shown = {
            host: ca.fw for host, one in hosts.items() for ca in one.ib.cas if ca.name == device
        }
        versions.update(shown)
        same("fleet.hca.firmware", device, versions, checks, size)
    _unique_guids(hosts, checks)
    _unique_lids(hosts, checks)
    _single_sm(hosts, checks)
    return checks


def expectations(hosts: Mapping[str, HostFacts]) -> dict[str, Expected]:
    """What most hosts have, for keys that nobody else expects anything of; {} below 3 hosts."""
    counted: dict[str, list[object]] = {"hcas": [], "link_layer": [], "rate_gbps": []}
    for one in _on_fabric(hosts).values():
        layers = Counter(layer(port) for ca in one.ib.cas for port in ca.ports)
        # A whole fleet in the wrong port mode must not expect itself.
        if not layers or layers.most_common(1)[0][0] != INFINIBAND:
            continue
        same = [(ca, p) for ca in one.ib.cas for p in ca.ports if is_infiniband(p)]
        counted["link_layer"].append(INFINIBAND)
        counted["hcas"].append(len({ca.name for ca, _ in same}))
        rates = Counter(p.rate for _, p in same if p.rate and p.state == "Active")
        if rates:
            counted["rate_gbps"].append(rates.most_common(1)[0][0])
    result: dict[str, Expected] = {}
    for key, values in counted.items():
        majority = agreed([str(value) for value in values])
        if majority is not None:
            text, times = majority
            value = next(one for one in values if str(one) == text)
            result[key] = Expected(value, f"fleet {times}/{len(values)}")
    return result


def _on_fabric(hosts: Mapping[str, HostFacts]) -> dict[str, HostFacts]:
    return {name: replace(one, ib=one.ib.on_fabric()) for name, one in hosts.items()}


def agreed(values: list[str]) -> tuple[str, int] | None:
    """The value that more than half of at least three have, and how many have it."""
    if len(values) < MIN_FLEET:
        return None
    value, times = Counter(values).most_common(1)[0]
    return (value, times) if 2 * times > len(values) else None


def _models(facts: IbFacts) -> str:
    """The HCA models of one host; "" where any of them is not shown."""
    types = sorted(ca.type for ca in facts.cas)
    return ", ".join(types) if all(types) else ""


def same(
    check_id: str,
    subject: str,
    values: Mapping[str, str],
    checks: dict[str, list[Check]],
    size: int,
    ask_first: str = _ASK_FIRST,
) -> None:
    """Add to ``checks`` of every host in ``values`` whether it has what most of them have.

    "" is the value of a host that did not tell; ``ask_first`` is what to do about that.
    """
    known = {host: value for host, value in values.items() if value}
    majority = agreed(list(known.values()))
    for host in values:
        if host not in known:
            checks[host].append(unknown(check_id, subject, _SILENT, remedy=ask_first))
            continue
        value = known[host]
        if size == 1:
            checks[host].append(skipped(check_id, subject, "one host: no other to compare with"))
        elif len(known) == 1:
            why = "no other host told, so there is nothing to compare with"
            checks[host].append(unknown(check_id, subject, why, observed=value, remedy=_ASK_OTHERS))
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
            why = NO_MAJORITY + ", ".join(f"{text} on {times}" for text, times in seen)
            checks[host].append(unknown(check_id, subject, why, observed=value))


def _unique_guids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """Node GUIDs among HCAs and, as they have a space of their own, port GUIDs among ports."""
    nodes = [(host, ca.name, ca.node_guid) for host, one in hosts.items() for ca in one.ib.cas]
    ports = [
        (host, port_name(ca, port), port.port_guid)
        for host, one in hosts.items()
        for ca in one.ib.cas
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
            others = [name for name in owners[guid.lower()] if name != f"{host} {subject}"]
            checks[host].append(_unique("fleet.hca.guid_unique", subject, guid, others))


def _unique_lids(hosts: Mapping[str, HostFacts], checks: dict[str, list[Check]]) -> None:
    """LIDs are unique within a subnet, which is known by its master; a port owns 2^LMC of them."""
    owners: dict[tuple[int, int], list[str]] = {}
    mine: list[tuple[str, str, int | None, range]] = []
    for host, one in hosts.items():
        for ca in one.ib.cas:
            for port in ca.ports:
                if not is_infiniband(port) or port.state != "Active" or not port.lid:
                    continue
                name = port_name(ca, port)
                subnet = _subnet(one.ib, name)
                lids = range(port.lid, port.lid + (1 << min(port.lmc or 0, 7)))
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
        claimed = {owner for lid in lids for owner in owners[(subnet, lid)]}
        others = sorted(claimed - {f"{host} {name}"})
        checks[host].append(_unique("fleet.port.lid_unique", name, str(lids[0]), others))


def _subnet(facts: IbFacts, port: str) -> int | None:
    """The GUID of the master that serves a port; None where it is not known."""
    answer = facts.sm.get(port)
    if answer is None or answer.sm is None:
        return None
    try:
        return int(answer.sm.guid, 16)
    except ValueError:
        return None


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
                guid = _subnet(one.ib, rail)
                shown = answer.sm.guid if guid is None else f"{guid:#x}"
                masters[host] = f"lid {answer.sm.lid} guid {shown}"
        seen = Counter(masters.values()).most_common()
        for host, one in hosts.items():
            if rail not in one.ib.sm:
                continue
            if host not in masters:
                why = "the subnet manager did not answer (fabric.sm.answers)"
                checks[host].append(unknown("fleet.sm.single", rail, why))
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
