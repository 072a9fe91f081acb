# SPDX-License-Identifier: GPL-3.0-or-later
"""The area gpu as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import Expectations
from ..._ground.check import UNKNOWN, Check, skipped, unknown
from ..area import Area
from ..machine.facts import NO_GPU, Machine
from . import ENTRIES, check_device, check_driver, check_log, check_memory, check_replays, check_state, observe
from .check_scope import scope
from .facts import GpuFacts

_NOT_HERE = "not in the bundle"
_EXCERPT = f"somebody cut one section out of nvidia-smi -q: the rest is {_NOT_HERE}"


def judge(facts: GpuFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every gpu.* check of one host, in reading order."""
    if machine.without_hardware:
        return _nothing_to_judge(f"simulated node: {machine.without_hardware}")
    if machine.has_gpus is False and not facts.smi.known and facts.error is None:
        count = check_device.none_there(expect)
        rest = _nothing_to_judge(NO_GPU)
        return [count if count and entry.id == count.id else entry for entry in rest]
    checks = list(_judge(facts, machine, expect))
    if facts.smi.value is not None and facts.smi.value.excerpt:
        return [unknown(check.id, "host", _EXCERPT) if _lacks(check) else check for check in checks]
    return checks


def _lacks(check: Check) -> bool:
    """Whether the check is open for another reason than evidence that nobody gathered."""
    return check.result == UNKNOWN and _NOT_HERE not in check.cause


def _judge(facts: GpuFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    seen = scope(facts, machine, expect)
    yield from check_driver.judge(seen)
    found = list(check_device.judge(seen))
    # Without nvidia-smi's answer gpu.driver.answers stands for all that it would have shown.
    if seen.listed:
        found += (*check_state.judge(seen), *check_memory.judge(seen), *check_replays.judge(seen))
    else:
        found += check_state.without_facts(seen)
    yield from found
    yield from check_log.judge(facts, expect)


def _nothing_to_judge(why: str) -> list[Check]:
    return [skipped(entry.id, "host", why) for entry in ENTRIES]


AREA = Area("gpu", lambda evidence, machine, _expect: observe.observe(evidence, machine), judge)
