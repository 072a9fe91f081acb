# SPDX-License-Identifier: GPL-3.0-or-later
"""What one host told a run of bench.yml, read from the variables that the playbook registered.

``ibready_node``, ``ibready_ibverify`` (module results), ``ibready_bench_answers`` (of the module
perftest), ``ibready_bench_nccl``, ``ibready_bench_nodes`` (results of nccl_perf), ``ibready_smoke``
(of mpi_smoke), ``ibready_launch`` (of launch), ``ibready_bench_switched`` (both with one thing off);
``ibready_bench_error``, ``ibready_bench_job_error``, ``ibready_bench_nccl_error`` (texts).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ....module_utils._areas.ib import area as ib
from ....module_utils._rails.ib_ports import port_name
from ..._answers import apart, shapes
from ..._answers.typed import read
from ..._ground import address as _address
from ..._hosts import hosts as _hosts
from ..._hosts.rounds import Rail
from .plan import Member

T = TypeVar("T")
HCAS = "hcas"
# The variable with the devices that are measured in place of the rails.
DEVICES = "bench_devices"
_ANSWERS = "ibready_bench_answers"
# What was planned to be switched off, and what this host told of each.
_SWITCHES, _SWITCHED = "ibready_bench_switches", "ibready_bench_switched"


@dataclass(frozen=True)
class Reported:
    """One host. ``rates``: Gb/s of each rail, None where unknown; ``down``: why a rail cannot
    measure. ``why``: why none can, "". ``gpus``: their models; None with ``gpus_why``.
    ``stack``: what it runs, for the baseline. ``job_hosts``: of the jobs on several hosts;
    ``job_error``, ``nccl_error``: what this host said of their end."""

    name: str
    member: Member
    absent: str = ""
    remedy: str = ""
    rates: Mapping[str, float | None] = field(default_factory=dict)
    down: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    gpus: Sequence[str] | None = None
    gpus_why: str = ""
    stack: Mapping[str, Any] = field(default_factory=dict)
    simulated: str = ""
    error: str = ""
    answers: Sequence[shapes.Speed] = ()
    nccl: shapes.NcclPerf | None = None
    nodes: shapes.NcclPerf | None = None
    mpi: shapes.Smoke | None = None
    job_hosts: Sequence[str] = ()
    job_error: str = ""
    nccl_error: str = ""
    switches: Sequence[shapes.Switch] = ()
    switched: Sequence[shapes.Switched] = ()

    @property
    def digest(self) -> str:
        """Tells one stack from another."""
        said = json.dumps(self.stack, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def gather(hostvars: Mapping[str, Any], names: Sequence[str]) -> list[Reported]:
    """Every named host; raises ExpectationError or WaiverError where a variable is wrong."""
    hosts = {host.name: host for host in _hosts.gather(hostvars, names)}
    found, odd = apart.each(hosts, lambda name: _told(hosts[name], hostvars.get(name, {})))
    return [found[name] if name in found else _absent(name, odd[name], apart.NEXT) for name in names]


def lost(host: Reported, why: str) -> Reported:
    """A host of whose answers nothing can be used."""
    return _absent(host.name, why, apart.NEXT)


def _absent(name: str, why: str, remedy: str) -> Reported:
    return Reported(name, Member(""), absent=why, remedy=remedy)


def _told(host: _hosts.Host, seen: Mapping[str, Any]) -> Reported:
    if host.absent:
        return _absent(host.name, host.absent, host.remedy)
    address = _address.of(host.name, seen)
    machine = host.facts.get("machine") or {}
    models = machine.get("gpus")
    gpus = None if models is None else tuple(str(model or "unknown model") for model in models)
    rails, rates, down = _rails(host, [str(entry) for entry in seen.get(DEVICES) or ()])
    return Reported(
        name=host.name,
        member=Member(address, rails, bool(gpus)),
        rates=rates,
        down=down,
        why=host.ib_error or ("" if rates else _no_port(seen)),
        gpus=gpus,
        gpus_why="" if gpus is not None else host.ib_error or "nobody looked for GPUs",
        stack=_stack(host),
        simulated=str(host.node.get("simulated") or ""),
        error=str(seen.get("ibready_bench_error") or ""),
        answers=read(list[shapes.Speed], seen.get(_ANSWERS) or [], _ANSWERS),
        nccl=_result(shapes.NcclPerf, seen, "ibready_bench_nccl"),
        nodes=_result(shapes.NcclPerf, seen, "ibready_bench_nodes"),
        mpi=_result(shapes.Smoke, seen, "ibready_smoke"),
        job_hosts=tuple((seen.get("ibready_launch") or {}).get("hosts") or ()),
        job_error=str(seen.get("ibready_bench_job_error") or ""),
        nccl_error=str(seen.get("ibready_bench_nccl_error") or ""),
        switches=read(list[shapes.Switch], seen.get(_SWITCHES) or [], _SWITCHES),
        switched=read(list[shapes.Switched], seen.get(_SWITCHED) or [], _SWITCHED),
    )


def _no_port(seen: Mapping[str, Any]) -> str:
    named = [str(entry) for entry in seen.get(DEVICES) or ()]
    if named:
        return f"it has no {' and no '.join(named)}, which bench_devices names"
    return "it has no RDMA port that could be a rail (bench_devices names others)"


def _rails(
    host: _hosts.Host, devices: Sequence[str]
) -> tuple[dict[str, Rail], dict[str, float | None], dict[str, str]]:
    """Rails that can measure, the rate of every one, and why the others cannot.

    ``devices``: those that the site names in place of the rails, software devices (rxe) as well.
    """
    rails: dict[str, Rail] = {}
    rates: dict[str, float | None] = {}
    down: dict[str, str] = {}
    if host.ib is None:
        return rails, rates, down
    named = [(ca, port) for ca in host.ib.cas if ca.name in devices for port in ca.ports]
    for ca, port in named if devices else ib.rails(host.ib, host.expect):
        name = port_name(ca, port)
        rates[name] = port.rate
        if port.state == "Active":
            rails[name] = Rail(name, ca.name, port.num, port.lid or 0)
        else:
            down[name] = f"the port is {port.state or 'in no known state'}"
    return rails, rates, down


def _stack(host: _hosts.Host) -> dict[str, Any]:
    """What the numbers depend on: kernel, what of a stack is installed, HCAs with firmware.

    Without ``hcas`` where nobody looked at them.
    """
    found = {name: str(entry) for name, entry in (host.node.get("installed") or {}).items() if entry}
    found["kernel"] = str(host.node.get("kernel") or "")
    if host.ib is not None:
        found[HCAS] = ", ".join(sorted({f"{ca.type} {ca.fw}" for ca in host.ib.cas}))
    return found


def _result(kind: type[T], seen: Mapping[str, Any], name: str) -> T | None:
    found = seen.get(name)
    if not isinstance(found, Mapping) or found.get("skipped"):
        return None
    return read(kind, found, name)
