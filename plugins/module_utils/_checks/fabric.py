# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge fabric-wide outputs of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.fabric import FabricFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine


def judge(facts: FabricFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every fabric.* check of one host."""
    return []
