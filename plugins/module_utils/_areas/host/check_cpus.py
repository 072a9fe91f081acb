# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a host's CPUs: all of them there, not overrun and not too hot."""

from __future__ import annotations

from ..._data.host_resources import LOAD_PER_CPU, NODE_LACKS_CPUS, WAITING_CPU
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, outcome, skipped, unknown
from ..._ground.look import look
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts
from .facts_machine import NumaNode, ResourceFacts


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.cpu.* checks but for the governor and those of the table of floors."""
    found = facts.resources
    real = check_scope.real(machine).then(check_scope.outside_container(machine))
    bare = real.then(check_scope.bare_metal(machine))
    return [
        *real.judge("host.cpu.load", lambda: [_load(found)]),
        *real.judge("host.cpu.online", lambda: [_online(found)]),
        *bare.judge("host.cpu.throttled", lambda: [_throttled(found)]),
    ]


def _load(found: ResourceFacts) -> Check:
    """Over one and over five minutes: what has just begun or ended is nothing yet."""
    check = "host.cpu.load"

    def judge(load: tuple[float, ...]) -> Check:
        cpus = found.online.value
        if not cpus:
            return unknown(check, HOST, found.online.why or "no CPU is online")
        lasting = min(load[0], load[1])
        observed = f"load {load[0]:.0f}, over five minutes {load[1]:.0f}, on {cpus} CPUs"
        waiting = found.waiting["cpu"].value if "cpu" in found.waiting else None
        cause = ""
        if waiting is not None:
            observed += f"; tasks waited for a CPU {waiting:.0f} % of five minutes"
            if waiting < WAITING_CPU:
                cause = "processes hang on a disk or a file server (state D of `ps -eo stat,pid,wchan:30,args`)"
        expected = f"at most {LOAD_PER_CPU:.0f} a CPU"
        return outcome(lasting < LOAD_PER_CPU * cpus, check, HOST, observed, expected, CAPABILITY, cause=cause)

    return look(check, HOST, found.load, judge)


def _online(found: ResourceFacts) -> Check:
    """Second threads that are switched off as a whole (smt/control) are no loss; half of a NUMA node is."""
    check = "host.cpu.online"

    def judge(present: int) -> Check:
        online = found.online.value
        if online is None:
            return unknown(check, HOST, found.online.why or "nobody looked")
        observed = f"{online} of {present}"
        one_thread = found.smt.value in ("off", "forceoff")
        if online < (present / 2 if one_thread else present):
            return outcome(False, check, HOST, observed, "all of them online", CAPABILITY)
        nodes = found.nodes.value or ()
        if found.nodes.value is None and not found.nodes.missing:
            return unknown(check, HOST, found.nodes.why)
        most = max((node.cpus for node in nodes), default=0)
        few_cpus = [node for node in nodes if node.cpus < (1 - NODE_LACKS_CPUS) * most]
        if few_cpus:
            observed += f"; {_said(few_cpus)} where another node has {most}"
            cause = "one processor runs with fewer cores or without its second threads: a fault, or a BIOS setting"
            return outcome(False, check, HOST, observed, "as many on each node", CAPABILITY, cause=cause)
        return outcome(True, check, HOST, observed, "all of them online", CAPABILITY)

    return look(check, HOST, found.present, judge)


def _said(nodes: list[NumaNode]) -> str:
    return ", ".join(f"{node.name} {node.cpus} CPUs" for node in nodes)


def _throttled(found: ResourceFacts) -> Check:
    check = "host.cpu.throttled"

    def judge(counts: dict[str, tuple[int, int]]) -> Check:
        now = [f"the package of {cpu} {more} times in five seconds" for cpu, (_all, more) in counts.items() if more]
        ever = sum(count for count, _more in counts.values())
        observed = ", ".join(now) or f"{ever} times since boot, not now"
        return outcome(not now, check, HOST, observed, "not now", CAPABILITY)

    def missing() -> Check:
        return skipped(check, HOST, "these CPUs do not count it (thermal_throttle)")

    return look(check, HOST, found.throttled, judge, missing=missing)
