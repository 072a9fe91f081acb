# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of kernel, limits, modules and services."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._observe import (
    host_kernel,
    host_modules,
    host_services,
    host_updates,
)


def observe(evidence: Evidence, machine: Machine) -> HostFacts:
    """Kernel, modules, services and updates, each from its own sources."""
    return HostFacts(
        kernel=host_kernel.observe(evidence, machine),
        modules=host_modules.observe(evidence),
        services=host_services.observe(evidence),
        updates=host_updates.observe(evidence),
    )
