# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge GPUs and their driver of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    gpu_device,
    gpu_driver,
    gpu_log,
    gpu_memory,
    gpu_state,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    UNKNOWN,
    Check,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.gpu_scope import (
    NO_GPU,
    scope,
)
from ansible_collections.ibready.cluster.plugins.module_utils._entries.gpu import ENTRIES
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.gpu import GpuFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine

_NOT_HERE = "not in the bundle"
_EXCERPT = f"somebody cut one section out of nvidia-smi -q: the rest is {_NOT_HERE}"


def judge(facts: GpuFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every gpu.* check of one host, in reading order."""
    if machine.without_hardware:
        return _nothing_to_judge(f"simulated node: {machine.without_hardware}")
    if machine.has_gpus is False and not facts.smi.known and facts.error is None:
        count = gpu_device.none_there(expect)
        rest = _nothing_to_judge(NO_GPU)
        return [count if count and one.id == count.id else one for one in rest]
    checks = list(_judge(facts, machine, expect))
    if facts.smi.value is not None and facts.smi.value.excerpt:
        return [unknown(one.id, "host", _EXCERPT) if _lacks(one) else one for one in checks]
    return checks


def _lacks(check: Check) -> bool:
    """Whether the check is open for another reason than evidence that nobody gathered."""
    return check.result == UNKNOWN and _NOT_HERE not in check.cause


def _judge(facts: GpuFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    seen = scope(facts, machine, expect)
    yield from gpu_driver.judge(seen)
    yield from gpu_device.judge(seen)
    # Without nvidia-smi's answer gpu.driver.answers stands for all that it would have shown.
    if seen.listed:
        yield from gpu_state.judge(seen)
        yield from gpu_memory.judge(seen)
    else:
        yield from gpu_state.without_facts(seen)
    yield from gpu_log.judge(facts, expect)


def _nothing_to_judge(why: str) -> list[Check]:
    return [skipped(one.id, "host", why) for one in ENTRIES]
