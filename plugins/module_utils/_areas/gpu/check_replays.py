# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how often GPUs had to send again on PCIe what arrived damaged: no I/O."""

from __future__ import annotations

from ..._data.pcie import REPLAYS_FEW, REPLAYS_PER_MINUTE, REPLAYS_TIMES, SETTLED_S
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check
from ..._ground.tally import Tally
from ..._parse._nvsmi import Gpu
from .check_scope import ALL_LOST, UNIT, Scope, equal, open_, subject

_CHECK = "gpu.pcie.replays"


def judge(seen: Scope) -> list[Check]:
    """gpu.pcie.replays: by the rate since boot, and by what equal GPUs have counted."""
    tally = Tally(_CHECK, UNIT)
    for gpu in seen.gpus:
        count, usual = gpu.pcie.replays, _most_of_equals(seen, gpu)
        if count is None and usual is None:
            tally.left_out(subject(gpu), "nvidia-smi shows no replays")
        elif count is None:
            open_(tally, gpu, "nvidia-smi shows no replays of it, and those of equal GPUs")
        elif usual is not None and count > max(REPLAYS_FEW, REPLAYS_TIMES * usual):
            _bad(tally, gpu, str(count), f"at most {usual}, as equal GPUs have")
        else:
            _rate(tally, gpu, count, seen)
    return tally.checks(f"at most {REPLAYS_PER_MINUTE} a minute", CAPABILITY, nothing=ALL_LOST)


def _most_of_equals(seen: Scope, gpu: Gpu) -> int | None:
    others = (other.pcie.replays for other in seen.gpus if other is not gpu and equal(gpu, other))
    return max((count for count in others if count is not None), default=None)


def _rate(tally: Tally, gpu: Gpu, count: int, seen: Scope) -> None:
    uptime = seen.facts.uptime_s
    if uptime.value is None:
        tally.unsure(subject(gpu), uptime.why or "nobody looked for the time since boot")
    elif uptime.value < SETTLED_S:
        tally.left_out(subject(gpu), f"booted less than {SETTLED_S // 60} minutes ago")
    elif count > (most := REPLAYS_PER_MINUTE * uptime.value / 60):
        _bad(tally, gpu, f"{count} in {uptime.value / 3600:.0f} h", f"at most {most:.0f}")
    else:
        tally.good(subject(gpu))


def _bad(tally: Tally, gpu: Gpu, seen: str, due: str) -> None:
    cause = f"its PCIe link repeats what arrives damaged: {seen} replays, {due}"
    tally.fail(subject(gpu), seen, due, CAPABILITY, cause=cause)
