# SPDX-License-Identifier: GPL-3.0-or-later
"""The area nvlink as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ..._expect.expectations import Expectations
from ..._ground.check import Check, skipped
from ..area import Area
from ..machine.facts import Machine
from . import (
    ENTRIES,
    check_counters,
    check_fabric,
    check_fabric_manager,
    check_imex,
    check_links,
    check_pairs,
    check_peers,
    check_switches,
    observe,
)
from .check_scope import Scope, cannot_tell, nothing_to_judge, unsure_of_all
from .facts import NvlinkFacts

_IDS = tuple(entry.id for entry in ENTRIES)


def judge(facts: NvlinkFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nvlink.* check of one host."""
    scope = Scope(facts, machine)
    unsure = unsure_of_all(scope)
    if unsure:
        return cannot_tell(_IDS, unsure)
    why = nothing_to_judge(scope)
    if why:
        return [skipped(entry, "host", why) for entry in _IDS]
    return [
        *check_switches.judge_switches(scope),
        *check_fabric_manager.judge_manager(scope),
        *check_fabric.judge_fabric(scope),
        *check_imex.judge_imex(scope, expect),
        *check_links.judge_links(scope),
        *check_pairs.judge_pairs(scope),
        *check_counters.judge_counters(scope),
        *check_peers.judge_caps(scope),
    ]


AREA = Area("nvlink", lambda evidence, machine, _expect: observe.observe(evidence, machine), judge)
