# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a host's memory: what is left of it, what its modules complain of, whether one is gone."""

from __future__ import annotations

from ..._data.host_resources import (
    CORRECTED_A_DAY,
    HOLDERS,
    MEMORY_GONE,
    MEMORY_SHORT,
    NODE_LACKS,
    SWAP_HEAVY,
    WAITING_MEMORY,
)
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, outcome, passed, skipped
from ..._ground.look import look
from ..._ground.text import few
from ..._parse.meminfo import Memory
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts
from .facts_machine import Dimm, Ecc, NumaNode, ResourceFacts

_GIB = 1024 * 1024  # KiB
_DAY_S = 24 * 3600
_SHOWN = 4
# What holds more than this share is why nothing is left.
_MUCH = 0.5
_NO_ECC = "no driver of this kernel watches the memory for errors (EDAC)"


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.memory.* checks, but for those of the kernel's settings."""
    found = facts.resources
    real = check_scope.real(machine).then(check_scope.outside_container(machine))
    bare = real.then(check_scope.bare_metal(machine))
    return [
        *real.judge("host.memory.available", lambda: [_available(found)]),
        *real.judge("host.memory.pressure", lambda: [_pressure(found)]),
        *bare.judge("host.memory.uncorrected", lambda: [_uncorrected(found)]),
        *bare.judge("host.memory.corrected", lambda: [_corrected(found)]),
        *bare.judge("host.memory.nodes", lambda: [_nodes(found)]),
    ]


def _gib(kib: int) -> str:
    return f"{kib / _GIB:.0f} GiB" if kib >= 10 * _GIB else f"{kib / _GIB:.1f} GiB"


def _left(memory: Memory) -> str:
    return f"{_gib(memory.available)} of {_gib(memory.total)} available"


def _is_gone(memory: Memory) -> bool:
    return memory.available < MEMORY_GONE * memory.total


def _available(found: ResourceFacts) -> Check:
    check = "host.memory.available"

    def judge(memory: Memory) -> Check:
        cause = remedy = ""
        name, most = max(memory.held.items(), key=lambda one: one[1])
        if most > _MUCH * memory.total:
            cause, remedy = HOLDERS[name][0].format(_gib(most)), HOLDERS[name][1]
        words = {"cause": cause, "remedy": remedy}
        return outcome(
            not _is_gone(memory), check, HOST, _left(memory), f"at least {MEMORY_GONE:.0%} of it", CAPABILITY, **words
        )

    return look(check, HOST, found.memory, judge)


def _pressure(found: ResourceFacts) -> Check:
    """Memory that is short harms nobody by itself: page cache makes room. Swap that stands still does
    not either where there is memory again."""
    check = "host.memory.pressure"

    def judge(memory: Memory) -> Check:
        used = memory.swap_total - memory.swap_free
        swap = f"{_gib(used)} of {_gib(memory.swap_total)} swap in use" if memory.swap_total else "no swap"
        waiting = found.waiting["memory"].value if "memory" in found.waiting else None
        observed = f"{_left(memory)}, {swap}"
        if waiting is not None:
            observed += f", tasks waited for memory {waiting:.0f} % of five minutes"
        heavy = bool(memory.swap_total) and used > SWAP_HEAVY * memory.swap_total
        short = memory.available < MEMORY_SHORT * memory.total and not _is_gone(memory)
        expected = "no swapping for want of memory"
        if short and (heavy or (waiting or 0) >= WAITING_MEMORY):
            return failed(check, HOST, observed, expected, CAPABILITY)
        return passed(check, HOST, observed, expected, CAPABILITY)

    return look(check, HOST, found.memory, judge)


def _named(dimm: Dimm) -> str:
    return f"{dimm.name} ({dimm.label})" if dimm.label else dimm.name


def _uncorrected(found: ResourceFacts) -> Check:
    check = "host.memory.uncorrected"

    def judge(ecc: Ecc) -> Check:
        bad = [f"{_named(dimm)}: {dimm.uncorrected}" for dimm in ecc.dimms if dimm.uncorrected]
        observed = few(bad, _SHOWN) or f"none in {len(ecc.dimms)} modules"
        return outcome(not bad, check, HOST, observed, "no uncorrected error", CAPABILITY)

    return look(check, HOST, found.ecc, judge, missing=lambda: skipped(check, HOST, _NO_ECC))


def _corrected(found: ResourceFacts) -> Check:
    """By day, of as many days as were counted, one at least: a single error is what ECC is for."""
    check = "host.memory.corrected"

    def judge(ecc: Ecc) -> Check:
        days = max(1.0, (ecc.seconds or found.uptime_s.value or 0) / _DAY_S)
        some = [dimm for dimm in ecc.dimms if dimm.corrected]
        bad = [dimm for dimm in some if dimm.corrected / days > CORRECTED_A_DAY]
        shown = [f"{_named(dimm)}: {dimm.corrected}" for dimm in bad or some]
        observed = f"{few(shown, _SHOWN)} in {days:.0f} days" if shown else f"none in {len(ecc.dimms)} modules"
        expected = f"at most {CORRECTED_A_DAY} a day of each module"
        return outcome(not bad, check, HOST, observed, expected, CAPABILITY)

    return look(check, HOST, found.ecc, judge, missing=lambda: skipped(check, HOST, _NO_ECC))


def _nodes(found: ResourceFacts) -> Check:
    check = "host.memory.nodes"

    def judge(nodes: tuple[NumaNode, ...]) -> Check:
        if len(nodes) < 2:
            return skipped(check, HOST, "one NUMA node has CPUs: no other to compare with")
        most = max(node.memory for node in nodes)
        less = [node for node in nodes if node.memory < (1 - NODE_LACKS) * most]
        observed = ", ".join(f"{node.name} {_gib(node.memory)}" for node in less or nodes[:_SHOWN])
        return outcome(not less, check, HOST, observed, f"{_gib(most)} each", CAPABILITY)

    def missing() -> Check:
        return skipped(check, HOST, "this kernel knows no NUMA nodes")

    return look(check, HOST, found.nodes, judge, missing=missing)
