# SPDX-License-Identifier: GPL-3.0-or-later
"""The area host as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ..._evidence.sources import Evidence
from ..._expect.expectations import Expectations
from ..._ground.check import Check
from ..area import Area
from ..machine.facts import Machine
from . import (
    check_bmc,
    check_boot,
    check_cpus,
    check_disks,
    check_floors,
    check_kernel,
    check_log,
    check_memory,
    check_modules,
    check_name,
    check_services,
    check_updates,
    observe_bmc,
    observe_boot,
    observe_disks,
    observe_floors,
    observe_kernel,
    observe_modules,
    observe_name,
    observe_resources,
    observe_services,
    observe_updates,
)
from .facts import HostFacts


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every host.* check of one host."""
    return [
        *check_kernel.judge(facts, machine),
        *check_memory.judge(facts, machine),
        *check_cpus.judge(facts, machine),
        *check_floors.judge(facts, machine),
        *check_disks.judge(facts, machine),
        *check_modules.judge(facts, machine),
        *check_log.judge(facts, machine, expect),
        *check_services.judge(facts, machine),
        *check_updates.judge(facts, machine),
        *check_name.judge(facts, machine),
        *check_bmc.judge(facts, machine),
        *check_boot.judge(facts, machine, expect),
    ]


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> HostFacts:
    """Each room from its own sources."""
    sharp = expect.get("sharp_manager")
    services = observe_services.observe(evidence, sharp is not None and sharp.value)
    return HostFacts(
        kernel=observe_kernel.observe(evidence, machine),
        modules=observe_modules.observe(evidence),
        services=services,
        updates=observe_updates.observe(evidence),
        resources=observe_resources.observe(evidence),
        floors=observe_floors.observe(evidence, services),
        disks=observe_disks.observe(evidence),
        bmc=observe_bmc.observe(evidence),
        name=observe_name.observe(evidence),
        boot=observe_boot.observe(evidence, machine),
    )


AREA = Area("host", observe, judge)
