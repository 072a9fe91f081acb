# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge kernel, limits, modules and services: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    host_kernel,
    host_log,
    host_modules,
    host_services,
    host_updates,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every host.* check of one host."""
    return [
        *host_kernel.judge(facts, machine),
        *host_modules.judge(facts, machine),
        *host_log.judge(facts, machine, expect),
        *host_services.judge(facts, machine),
        *host_updates.judge(facts, machine),
    ]
