# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of GPUs and their driver."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts.gpu import GpuFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine


def observe(evidence: Evidence, machine: Machine) -> GpuFacts:
    """Nothing yet."""
    return GpuFacts()
