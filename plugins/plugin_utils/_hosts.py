# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run learnt of each host, read from the variables that the playbooks registered.

``ibready_node``, ``ibready_ibverify`` (module results), ``ibready_converge_error``,
``ibready_ping_error`` (texts), ``ibready_pings``, ``ibready_pings_again`` (answers of the module
ibping), ``ibready_ping_plan`` (of the filter ping_plan); of TCP, see _tcp_told, of data over RDMA
_rdma/told.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible.vars.hostvars import HostVars

from ansible_collections.ibready.cluster.plugins.module_utils import _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._checks import ib
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    from_dict as check_from_dict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_time import Visit
from ansible_collections.ibready.cluster.plugins.module_utils._data.boards import Board
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    Expectations,
    from_inventory,
    with_profile,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    IbFacts,
    from_dict,
    is_infiniband,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port
from ansible_collections.ibready.cluster.plugins.module_utils._profiles import board_by_name
from ansible_collections.ibready.cluster.plugins.module_utils._waivers import Waiver
from ansible_collections.ibready.cluster.plugins.plugin_utils import _expected, _tcp_told
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import told as rdma_told
from ansible_collections.ibready.cluster.plugins.plugin_utils._rounds import Participant, Rail

# Judged with the ports, by the same code.
_SM = "fabric.sm.answers"
_VISIT = ("asked", "answered", "began", "ended")
# What modules returned and filters made: there is no template in it.
_DATA = (
    "ibready_node",
    "ibready_ibverify",
    "ibready_pings",
    "ibready_pings_again",
    "ibready_ping_plan",
    "ibready_plan",
    "ibready_rdma_answers",
    "ibready_rdma_inside",
    "ibready_rdma_plan",
    "ibready_rdma_served",
)


@dataclass(frozen=True)
class Host:
    """One host of the run. ``absent`` says why nothing is known of it (empty: it took part).

    ``recorded``: of a host that is judged by its evidence bundle, when that was collected.
    ``visit``: what ibverify's visit told of its clock.
    """

    name: str
    absent: str = ""
    remedy: str = ""
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
    answers: Sequence[Mapping[str, Any]] = ()
    answers_again: Sequence[Mapping[str, Any]] = ()
    tcp: _tcp_told.Told | None = None
    rdma: rdma_told.Told | None = None
    visit: Visit | None = None


def gather(hostvars: Mapping[str, Any], names: Sequence[str]) -> list[Host]:
    """Read every named host; raises ExpectationError or WaiverError where a variable is wrong."""
    return [_host(name, variables(hostvars, name)) for name in names]


def variables(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One host's variables. Ansible's templar is kept from data, of which it would look at every
    single value: 35 ms for the facts of one host.
    """
    templated: Any = hostvars.get(name, {})
    raw = hostvars.raw_get(name) if isinstance(hostvars, HostVars) else {}
    return ChainMap({key: raw[key] for key in _DATA if key in raw}, templated)


def ping_plan(hostvars: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """By which plan the hosts pinged each other, None where there was none: all have the same."""
    return _plan(hostvars, names, "ibready_ping_plan")


def rdma_plan(hostvars: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """By which plan they moved data over RDMA, None where there was none."""
    return _plan(hostvars, names, "ibready_rdma_plan")


def _plan(
    hostvars: Mapping[str, Any], names: Sequence[str], variable: str
) -> Mapping[str, Any] | None:
    for name in names:
        made = variables(hostvars, name).get(variable)
        if isinstance(made, Mapping):
            return made
    return None


def _host(name: str, seen: Mapping[str, Any]) -> Host:
    reached = seen.get("ibready_node") or {}
    if not isinstance(reached.get("node"), Mapping):
        why, remedy = _why_absent(reached)
        return Host(name, absent=why, remedy=remedy)
    judged = seen.get("ibready_ibverify") or {}
    facts, checks, ports, error = _judged(judged)
    expect = with_profile(from_inventory(_expected.of(seen)), _board(judged))
    told = judged["facts"] if facts is not None else {}
    simulated = str(reached["node"].get("simulated") or "")
    return Host(
        name,
        converge_error=str(seen.get("ibready_converge_error") or ""),
        ping_error=str(seen.get("ibready_ping_error") or ""),
        node=reached["node"],
        ib=facts,
        ib_error=error,
        checks=checks,
        ports=ports,
        facts=told,
        expect=expect,
        waivers=_waivers.parse(seen.get("ibready_waivers") or []),
        answers=list(seen.get("ibready_pings") or []),
        answers_again=list(seen.get("ibready_pings_again") or []),
        tcp=_tcp_told.told(name, seen),
        rdma=rdma_told.told(name, seen, told, facts, expect, simulated),
        visit=_visit(judged.get("clock")),
    )


def recorded(
    name: str,
    judged: Mapping[str, Any],
    *,
    collected_at: str,
    expect: Expectations,
    waivers: Sequence[Waiver],
) -> Host:
    """A host of which there is a bundle; ``judged``: the verdict object of all areas."""
    facts, checks, ports, error = _judged(judged)
    machine = judged["facts"]["machine"]
    return Host(
        name,
        recorded=f"judged from the bundle collected {collected_at or 'at a time that it omits'}",
        ping_error="a bundle holds no pings: only a run over the hosts themselves has them",
        node={"kernel": machine["kernel"] or "", "simulated": machine["simulated"]},
        ib=facts,
        ib_error=error,
        checks=checks,
        ports=ports,
        facts=judged["facts"] if facts is not None else {},
        expect=with_profile(expect, _board(judged)),
        waivers=waivers,
    )


def _judged(judged: Mapping[str, Any]) -> tuple[IbFacts | None, list[Check], list[Check], str]:
    """What ibverify returned, checks of ports apart, or why it cannot be used; one host's nonsense
    stays its own."""
    if "facts" not in judged:
        return None, [], [], str(judged.get("msg") or "the module ibverify did not run")
    try:
        told = [check_from_dict(one) for one in judged["checks"]]
        mine = [one for one in told if not _of_ports(one)]
        ports = [one for one in told if _of_ports(one)]
        return from_dict(judged["facts"]["ib"]), mine, ports, ""
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        return None, [], [], f"the module ibverify returned facts that cannot be read: {exc!r}"


def _of_ports(check: Check) -> bool:
    return check.id.startswith("ib.") or check.id == _SM


def _visit(clock: Any) -> Visit | None:
    """What a visit told of the host's clock; None where it told nothing that can be used."""
    if not isinstance(clock, Mapping) or not set(_VISIT) <= set(clock):
        return None
    told = [clock[name] for name in _VISIT]
    # Ansible's numbers are of classes of its own.
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in told):
        return None
    seconds = [float(one) for one in told]
    return Visit(*seconds) if all(map(math.isfinite, seconds)) else None


def _board(judged: Mapping[str, Any]) -> Board | None:
    """The hardware profile that the host recognised."""
    facts = judged.get("facts")
    machine = facts.get("machine") if isinstance(facts, Mapping) else None
    name = machine.get("profile") if isinstance(machine, Mapping) else None
    return board_by_name(str(name)) if name else None


def _why_absent(reached: Mapping[str, Any]) -> tuple[str, str]:
    """What the first contact said, and what to do about it."""
    said = str(reached.get("msg") or "").strip()
    low = said.lower()
    if reached.get("unreachable"):
        return f"unreachable by ssh: {said}", ""
    if "sudo" in low or "become" in low or "privilege" in low:
        return (
            f"logged in, but could not become root: {said}",
            "give the login user password-less sudo, or run with --ask-become-pass",
        )
    if said:
        return f"the first module failed there: {said}", "run the module by hand with -vvv"
    return "it took no part in this run", "run again without --limit or --start-at-task"


def infiniband_rails(host: Host) -> list[tuple[Ca, Port]]:
    """The host's rails that are InfiniBand, in order: the place of a port is its rail."""
    if host.ib is None:
        return []
    return [(ca, port) for ca, port in ib.rails(host.ib, host.expect) if is_infiniband(port)]


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
