# SPDX-License-Identifier: GPL-3.0-or-later
"""The area stack as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ..._expect.expectations import Expectations
from ..._ground.check import Check
from ..area import Area
from ..machine.facts import Machine
from . import (
    check_beegfs,
    check_beegfs_log,
    check_gds,
    check_gpudirect,
    check_held,
    check_linker,
    check_lock,
    check_modules,
    check_mpi,
    check_next,
    check_rdma,
    check_verbs,
    observe,
)
from .check_installed import installed
from .facts import StackFacts


def judge(facts: StackFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every stack.* check of one host."""
    ours = installed(facts)
    return [
        *check_rdma.judge(facts, machine, expect),
        *check_verbs.judge(facts, machine, expect, ours),
        *check_modules.judge(facts, machine, ours),
        *check_held.judge(facts),
        *check_next.judge(facts.next, machine),
        *check_gpudirect.judge(facts, machine, expect),
        *check_linker.judge(facts.linker, facts.driver, machine),
        *check_lock.judge(facts, machine, expect, ours),
        *check_mpi.judge(facts, machine),
        check_beegfs.judge(facts, machine),
        *check_beegfs_log.judge(facts, machine),
        *check_gds.judge(facts, machine, expect),
    ]


AREA = Area("stack", observe.observe, judge)
