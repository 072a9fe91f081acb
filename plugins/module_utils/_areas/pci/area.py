# SPDX-License-Identifier: GPL-3.0-or-later
"""The area pci as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from ..._expect.expectations import Expectations
from ..._ground.check import Check, skipped, unknown
from ..area import Area
from ..machine.facts import Machine
from . import ENTRIES, observe
from .check_bar import judge_bars
from .check_config import judge_config
from .check_driver import judge_drivers
from .check_errors import judge_errors
from .check_gpu_slot import judge_gpu_slots
from .check_link import judge_links
from .check_place import judge_places
from .check_scope import scope
from .check_slot import judge_slots
from .facts import PciFacts


def judge(facts: PciFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every pci.* check of one host."""
    ids = [entry.id for entry in ENTRIES]
    if machine.without_hardware:
        return [skipped(entry, "host", f"simulated node: {machine.without_hardware}") for entry in ids]
    if machine.pci.missing:
        return [skipped(entry, "host", "the host has no PCI bus") for entry in ids]
    if not machine.pci.known:
        return [unknown(entry, "host", machine.pci.why or "nobody looked") for entry in ids]
    mine = scope(facts, machine, expect)
    return [
        *judge_drivers(mine),
        *judge_links(mine),
        *judge_gpu_slots(mine),
        *judge_slots(mine, expect),
        judge_places(mine, expect),
        *judge_bars(mine),
        *judge_config(mine),
        *judge_errors(mine),
    ]


AREA = Area("pci", lambda evidence, machine, _expect: observe.observe(evidence, machine), judge)
