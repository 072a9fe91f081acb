# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge GPUs and their driver of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.gpu import GpuFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine


def judge(facts: GpuFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every gpu.* check of one host."""
    return []
