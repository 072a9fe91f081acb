# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of kernel, limits, modules and services."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine


def observe(evidence: Evidence, machine: Machine) -> HostFacts:
    """Nothing yet."""
    return HostFacts()
