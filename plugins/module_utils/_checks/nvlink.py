# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NVLink and the fabric manager: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nvlink import NvlinkFacts


def judge(facts: NvlinkFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nvlink.* check of one host."""
    return []
