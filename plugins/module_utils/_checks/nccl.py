# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NCCL on one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nccl import NcclFacts


def judge(facts: NcclFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nccl.* check."""
    return list(nccl_log.judge(facts.log, machine, expect))
