# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run learnt of each host, read from the variables that the playbooks registered.

``ibready_node``, ``ibready_ibverify`` (module results), ``ibready_converge_error``,
``ibready_ping_error`` (texts), ``ibready_pings``, ``ibready_pings_again`` (answers of the module
ibping), ``ibready_ping_plan`` (of the filter ping_plan); of TCP, see _tcp_told, of data over RDMA
_answers/rdma.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible.vars.hostvars import HostVars

from ...module_utils._areas.ib import area as ib
from ...module_utils._areas.stack.contact_facts import NodeReported
from ...module_utils._data.boards import Board
from ...module_utils._expect import waivers as _waivers
from ...module_utils._expect.expectations import Expectations, from_inventory, with_profile
from ...module_utils._expect.profiles import board_by_name
from ...module_utils._expect.waivers import Waiver
from ...module_utils._fleet.fleet_time import Visit
from ...module_utils._ground.check import Check
from ...module_utils._parse.ibstat import Ca, Port
from ...module_utils._rails.ib_ports import IbFacts, is_infiniband, port_name
from ...module_utils._verify import brief
from ...module_utils._verify.catalog import CATALOG
from .._answers import (
    apart,
    clean,
    judged as told_verdict,
    ping as told_pings,
    rdma as rdma_told,
    shapes,
    tcp as _tcp_told,
)
from .._answers.typed import AnswerError, read
from .._ground import silence
from .._ground.dicts import as_dict
from .._site import expected, trust
from . import contact
from .rounds import Participant, Rail

# Judged with the ports, by the same code.
_SM = "fabric.sm.answers"
# Of the ports, and by what the host alone has read of them.
_EQUALS = "ib.equals."
# Where the inventory says where a host is.
_ADDRESSES = ("ansible_host", "ibready_address")
# What modules returned and filters made: there is no template in it.
_DATA = (
    "ansible_facts",
    "ibready_node",
    "ibready_ibverify",
    "ibready_pings",
    "ibready_pings_again",
    "ibready_ping_plan",
    "ibready_plan",
    "ibready_incast_plan",
    "ibready_incast_told",
    "ibready_rdma_answers",
    "ibready_rdma_inside",
    "ibready_rdma_plan",
    "ibready_rdma_served",
)


@dataclass(frozen=True)
class Host:
    """One host of the run. ``absent`` says why nothing is known of it (empty: it took part).

    ``address``: where Ansible looked in vain for it. ``silent``: that it gave no answer since.
    ``recorded``: of a host that is judged by its evidence bundle, when that was collected.
    ``visit``: what ibverify's visit told of its clock. ``called``: its names and addresses by the inventory.
    """

    name: str
    absent: str = ""
    remedy: str = ""
    address: str = ""
    silent: str = ""
    recorded: str = ""
    converge_error: str = ""
    ping_error: str = ""
    node: Mapping[str, Any] = field(default_factory=dict)
    ib: IbFacts | None = None
    ib_error: str = ""
    # What the host judged by itself; its ports are judged again, with what the fleet expects.
    checks: Sequence[Check] = ()
    ports: Sequence[Check] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    waivers: Sequence[Waiver] = ()
    expect: Expectations = field(default_factory=Expectations)
    answers: Sequence[shapes.Ping] = ()
    answers_again: Sequence[shapes.Ping] = ()
    tcp: _tcp_told.Reported | None = None
    rdma: rdma_told.Reported | None = None
    visit: Visit | None = None
    called: Sequence[str] = ()


def gather(hostvars: Mapping[str, Any], names: Sequence[str]) -> list[Host]:
    """Read every named host; raises ExpectationError or WaiverError where a variable is wrong.

    Whatever a host answered, it costs no other: one whose answers cannot be read is ``absent``.
    """
    known = told_verdict.Known()
    found, refused = apart.each(names, lambda name: _host(name, variables(hostvars, name), known))
    return [found[name] if name in found else lost(Host(name), refused[name]) for name in names]


def lost(host: Host, why: str) -> Host:
    """A host of whose answers nothing can be used."""
    return Host(host.name, absent=why, remedy=apart.NEXT, waivers=host.waivers)


def variables(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One host's variables. Ansible's templar is kept from data, of which it would look at every
    single value: 35 ms for the facts of one host.
    """
    templated: Any = hostvars.get(name, {})
    raw = hostvars.raw_get(name) if isinstance(hostvars, HostVars) else {}
    return ChainMap({key: raw[key] for key in _DATA if key in raw}, templated)


def ping_plan(hostvars: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """By which plan the hosts pinged each other, None where there was none: all have the same."""
    return plan_of(hostvars, names, "ibready_ping_plan")


def rdma_plan(hostvars: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """By which plan they moved data over RDMA, None where there was none."""
    return plan_of(hostvars, names, "ibready_rdma_plan")


def plan_of(hostvars: Mapping[str, Any], names: Sequence[str], variable: str) -> Mapping[str, Any] | None:
    """A plan that a task left on all hosts, None where there was none."""
    for name in names:
        made = variables(hostvars, name).get(variable)
        if isinstance(made, Mapping):
            return made
    return None


def _host(name: str, seen: Mapping[str, Any], known: told_verdict.Known) -> Host:
    contacted, visited = _registered(seen, "ibready_node"), _registered(seen, "ibready_ibverify")
    # A host whose word was refused left its facts there.
    for told in (contacted, visited, seen):
        foreign = trust.why_not(told.get("ansible_facts"))
        if foreign:
            return Host(name, absent=foreign, remedy=trust.REMEDY)
    silent = silence.SILENT.get(name, "")
    if silent and not {brief.KEY, "checks"} & visited.keys():
        return Host(name, absent=silent, remedy=silence.NEXT)
    if visited.get("unreachable") or ("node" not in contacted and brief.KEY not in visited):
        gone = contact.absent(name, seen, visited or contacted)
        return Host(name, absent=gone.why, remedy=gone.remedy, address=gone.address)
    reported, answer, error = _judged(visited, known)
    facts = answer["facts"] if answer else None
    # A visit of findings is its own contact.
    raw = reported["node"] if facts and "node" in facts else contacted.get("node")
    if raw is None:
        return lost(Host(name), error or "it does not tell what it is")
    node = read(NodeReported, raw, "node")
    ib_facts = facts["ib"] if facts else None
    expect = with_profile(from_inventory(expected.of(seen)), _board(facts), _network(facts))
    pings, garbled = told_pings.answers(seen, "ibready_pings")
    again, lost_again = told_pings.answers(seen, "ibready_pings_again")
    return Host(
        name,
        silent=silent,
        converge_error=str(seen.get("ibready_converge_error") or ""),
        ping_error=str(seen.get("ibready_ping_error") or "") or garbled or lost_again,
        node=raw,
        ib=ib_facts,
        ib_error=error,
        checks=_checks(answer, of_ports=False),
        ports=_checks(answer, of_ports=True),
        facts=reported,
        expect=expect,
        waivers=_waivers.parse(seen.get("ibready_waivers") or [], CATALOG),
        answers=pings,
        answers_again=again,
        tcp=_tcp_told.told(name, seen),
        rdma=rdma_told.told(name, seen, reported, ib_facts, expect, node.get("simulated", "")),
        visit=_visit(answer),
        called=[str(seen[key]) for key in _ADDRESSES if seen.get(key)],
    )


def _registered(seen: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A task's result; {} where the task did not run."""
    found = seen.get(name) or {}
    if not isinstance(found, Mapping):
        raise AnswerError("no result of a task", name)
    return found


def recorded(
    name: str,
    judged: Mapping[str, Any],
    *,
    collected_at: str,
    expect: Expectations,
    waivers: Sequence[Waiver],
) -> Host:
    """A host of which there is a bundle; ``judged``: the verdict object of all areas."""
    judged = clean.whole(judged)  # A bundle may hold bytes that no module could return.
    facts_told, answer, error = _judged(judged, told_verdict.Known())
    machine = judged["facts"]["machine"]
    facts = answer["facts"] if answer else None
    return Host(
        name,
        recorded=f"judged from the bundle collected {collected_at or 'at a time that it omits'}",
        ping_error="a bundle holds no pings: only a run over the hosts themselves has them",
        node={"kernel": machine["kernel"] or "", "simulated": machine["simulated"], **_of_bundle(judged["facts"])},
        ib=facts["ib"] if facts else None,
        ib_error=error,
        checks=_checks(answer, of_ports=False),
        ports=_checks(answer, of_ports=True),
        facts=facts_told,
        expect=with_profile(expect, _board(facts), _network(facts)),
        waivers=waivers,
    )


def _of_bundle(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a visit would have told of the machine's system, size and name."""
    host = as_dict(facts.get("host"))
    leaves = as_dict(as_dict(as_dict(facts.get("equals")).get("host")).get("usual"))
    system = {key: leaves.get(f"/etc/os-release/{name}", "") for key, name in (("id", "ID"), ("version", "VERSION_ID"))}
    if "resources" not in host:
        return {}
    resources = as_dict(host["resources"])
    memory = as_dict(as_dict(resources.get("memory")).get("value")).get("total")
    return {
        "os": system,
        "hostname": as_dict(as_dict(host.get("name")).get("own")).get("value"),
        "memory_mb": memory // 1024 if isinstance(memory, int) else None,
        "cpus": as_dict(resources.get("online")).get("value"),
    }


def _judged(
    judged: Mapping[str, Any], known: told_verdict.Known
) -> tuple[Mapping[str, Any], shapes.Judged | None, str]:
    """The facts that a verify module returned, as they came; all of it by its types, or why it cannot be used."""
    if "facts" not in judged and brief.KEY not in judged:
        return {}, None, str(judged.get("msg") or "the module ibverify did not run")
    try:
        return *known.answer(judged), ""
    except AnswerError as exc:
        return {}, None, f"the module ibverify returned facts that cannot be read: {exc}"


def _checks(answer: shapes.Judged | None, *, of_ports: bool) -> list[Check]:
    """Those of ports apart: they are judged again, by the same code."""
    every = answer["checks"] if answer else ()
    anew = ((check.id.startswith("ib.") and not check.id.startswith(_EQUALS)) or check.id == _SM for check in every)
    return [check for check, again in zip(every, anew, strict=True) if again is of_ports]


def _visit(answer: shapes.Judged | None) -> Visit | None:
    """What a visit told of the host's clock; None where it told nothing that can be used."""
    clock = (answer.get("clock") if answer else None) or {}
    try:
        return Visit(clock["asked"], clock["answered"], clock["began"], clock["ended"])
    except KeyError:
        return None


def _board(facts: shapes.Facts | None) -> Board | None:
    """The hardware profile that the host recognised."""
    name = facts.get("machine", {}).get("profile") if facts else None
    return board_by_name(name) if name else None


def _network(facts: shapes.Facts | None) -> str:
    """The link layer of what sits on the rails' places, "" where that tells nothing."""
    seen = facts.get("machine", {}).get("network") if facts else None
    return (seen.value or "") if seen is not None else ""


def infiniband_rails(host: Host) -> list[tuple[Ca, Port]]:
    """The host's rails that are InfiniBand, in order: the place of a port is its rail."""
    if host.ib is None:
        return []
    return [(ca, port) for ca, port in ib.rails(host.ib, host.expect) if is_infiniband(port)]


def pci_places(host: Host, rails: Sequence[tuple[Ca, Port]]) -> list[int]:
    """The place of each of these rails in the order of PCI addresses; [] where one has none told."""
    addresses = as_dict(as_dict(host.facts.get("pci")).get("rdma"))
    known = [(str(addresses.get(ca.name) or ""), port.num) for ca, port in rails]
    if not all(address for address, _unused in known):
        return []
    order = sorted(known)
    return [order.index(entry) for entry in known]


def participant(host: Host) -> Participant:
    """Which rails of a host can ping, and why the others cannot."""
    if host.absent:
        return Participant({}, {"*": host.absent})
    if host.ib is None:
        return Participant({}, {"*": host.ib_error})
    ignored = frozenset(
        port_name(ca, port)
        for ca in host.ib.cas
        for port in ca.ports
        if host.expect.ignores(ca.name, port_name(ca, port))
    )
    rails: dict[str, Rail] = {}
    missing: dict[str, str] = {}
    for ca, port in ib.rails(host.ib, host.expect):
        if not is_infiniband(port):
            continue
        name = port_name(ca, port)
        if host.ping_error:
            missing[name] = host.ping_error
        elif port.state != "Active":
            missing[name] = f"the port is {port.state or 'in no known state'}"
        elif not port.lid:
            missing[name] = "the port has no LID"
        else:
            rails[name] = Rail(name, ca.name, port.num, port.lid)
    return Participant(rails, missing, str(host.node.get("hostname") or ""), ignored)
