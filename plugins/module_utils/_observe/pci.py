# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of links, BARs and bridges of GPUs and HCAs."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.pci import PciFacts


def observe(evidence: Evidence, machine: Machine) -> PciFacts:
    """Nothing yet."""
    return PciFacts()
