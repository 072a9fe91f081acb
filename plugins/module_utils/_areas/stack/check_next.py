# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the kernel that boots next has the modules that this host runs with."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, unknown
from ..host import check_scope
from ..host.check_scope import HOST
from ..machine.facts import Machine
from . import kmods_gaps
from .kmods_facts import KmodFacts

_CHECK = "stack.kmod.next"


def judge(facts: KmodFacts, machine: Machine) -> list[Check]:
    """stack.kmod.next, one for each module that is missing."""
    scope = check_scope.real(machine).then(check_scope.outside_container(machine))
    return scope.judge(_CHECK, lambda: list(_next(facts)))


def _next(facts: KmodFacts) -> Iterator[Check]:
    found = kmods_gaps.find(facts)
    for why in found.unknown:
        yield unknown(_CHECK, HOST, why)
    wrong = [gap for gap in found.gaps if gap.required]
    for entry in wrong:
        expected = f"a module for {entry.kernel}, which boots next"
        if facts.because:
            expected = f"a module for {entry.kernel}, which may boot next ({facts.because})"
        remedy = entry.following
        if entry.kind == kmods_gaps.UNBUILT:
            remedy += ", or let role reboot_gate build it, before anybody reboots"
        observed = f"{facts.running} runs, and {entry.kernel} has none"
        yield failed(_CHECK, entry.subject, observed, expected, CAPABILITY, cause=entry.cause, remedy=remedy)
    if not wrong and not found.unknown:
        following = ", ".join(facts.kernels.value or ())
        observed = f"{following} has them all" if following else f"{facts.running} boots next"
        yield passed(_CHECK, HOST, observed, "every module that the host runs with", CAPABILITY)
