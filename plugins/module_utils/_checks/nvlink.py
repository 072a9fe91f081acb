# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NVLink and the fabric manager: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    fabric_manager,
    nvlink_counters,
    nvlink_fabric,
    nvlink_imex,
    nvlink_links,
    nvlink_pairs,
    nvlink_peers,
    nvlink_switches,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, skipped
from ansible_collections.ibready.cluster.plugins.module_utils._checks.nvlink_scope import (
    Scope,
    cannot_tell,
    nothing_to_judge,
    unsure_of_all,
)
from ansible_collections.ibready.cluster.plugins.module_utils._entries.nvlink import ENTRIES
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nvlink import NvlinkFacts

_IDS = tuple(one.id for one in ENTRIES)


def judge(facts: NvlinkFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nvlink.* check of one host."""
    scope = Scope(facts, machine)
    unsure = unsure_of_all(scope)
    if unsure:
        return cannot_tell(_IDS, unsure)
    why = nothing_to_judge(scope)
    if why:
        return [skipped(one, "host", why) for one in _IDS]
    return [
        *nvlink_switches.judge_switches(scope),
        *fabric_manager.judge_manager(scope),
        *nvlink_fabric.judge_fabric(scope),
        *nvlink_imex.judge_imex(scope),
        *nvlink_links.judge_links(scope),
        *nvlink_pairs.judge_pairs(scope),
        *nvlink_counters.judge_counters(scope),
        *nvlink_peers.judge_caps(scope),
    ]
