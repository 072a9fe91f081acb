# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the kernel that boots next has the modules that this host runs with."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import host_scope
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.host_scope import HOST
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts.kmods import KmodFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._kmods import gaps

_CHECK = "stack.kmod.next"


def judge(facts: KmodFacts, machine: Machine) -> list[Check]:
    """stack.kmod.next, one for each module that is missing."""
    scope = host_scope.real(machine).then(host_scope.outside_container(machine))
    return scope.judge(_CHECK, lambda: list(_next(facts)))


def _next(facts: KmodFacts) -> Iterator[Check]:
    found = gaps.find(facts)
    for why in found.unknown:
        yield unknown(_CHECK, HOST, why)
    wrong = [one for one in found.gaps if one.required]
    for one in wrong:
        expected = f"a module for {one.kernel}, which boots next"
        if facts.because:
            expected = f"a module for {one.kernel}, which may boot next ({facts.because})"
        remedy = one.following
        if one.kind == gaps.UNBUILT:
            remedy += ", or let role reboot_gate build it, before anybody reboots"
        observed = f"{facts.running} runs, and {one.kernel} has none"
        yield failed(
            _CHECK, one.subject, observed, expected, CAPABILITY, cause=one.cause, remedy=remedy
        )
    if not wrong and not found.unknown:
        following = ", ".join(facts.kernels.value or ())
        observed = f"{following} has them all" if following else f"{facts.running} boots next"
        yield passed(_CHECK, HOST, observed, "every module that the host runs with", CAPABILITY)
