# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the installed stack of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    stack_beegfs,
    stack_gpudirect,
    stack_lock,
    stack_modules,
    stack_mpi,
    stack_next,
    stack_rdma,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._checks.stack_installed import (
    installed,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.stack import StackFacts


def judge(facts: StackFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every stack.* check of one host."""
    ours = installed(facts)
    return [
        *stack_rdma.judge(facts, machine),
        *stack_modules.judge(facts, machine, ours),
        *stack_next.judge(facts.next, machine),
        *stack_gpudirect.judge(facts, machine, expect),
        *stack_lock.judge(facts, machine, expect, ours),
        *stack_mpi.judge(facts, machine),
        stack_beegfs.judge(facts, machine),
    ]
