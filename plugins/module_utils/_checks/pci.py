# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge links, BARs and bridges of GPUs and HCAs: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_bar import judge_bars
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_config import (
    judge_config,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_driver import (
    judge_drivers,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_errors import (
    judge_errors,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_gpu_slot import (
    judge_gpu_slots,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_link import judge_links
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_scope import scope
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_slot import judge_slots
from ansible_collections.ibready.cluster.plugins.module_utils._entries import pci as entries
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.pci import PciFacts


def judge(facts: PciFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every pci.* check of one host."""
    ids = [one.id for one in entries.ENTRIES]
    if machine.without_hardware:
        return [skipped(one, "host", f"simulated node: {machine.without_hardware}") for one in ids]
    if machine.pci.missing:
        return [skipped(one, "host", "the host has no PCI bus") for one in ids]
    if not machine.pci.known:
        return [unknown(one, "host", machine.pci.why or "nobody looked") for one in ids]
    mine = scope(facts, machine, expect)
    return [
        *judge_drivers(mine),
        *judge_links(mine),
        *judge_gpu_slots(mine),
        *judge_slots(mine, expect),
        *judge_bars(mine),
        *judge_config(mine),
        *judge_errors(mine),
    ]
