# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge RoCE ports of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import RoceFacts


def judge(facts: RoceFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every roce.* check of one host."""
    return []
