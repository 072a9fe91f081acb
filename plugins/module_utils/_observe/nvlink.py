# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of NVLink and the fabric manager."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nvlink import NvlinkFacts


def observe(evidence: Evidence, machine: Machine) -> NvlinkFacts:
    """Nothing yet."""
    return NvlinkFacts()
