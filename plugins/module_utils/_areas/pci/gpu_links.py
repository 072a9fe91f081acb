# SPDX-License-Identifier: GPL-3.0-or-later
"""The links of equal GPUs as nvidia-smi shows them, held against each other: no I/O."""

from __future__ import annotations

from typing import Callable, Hashable

from ..._ground.check import failed
from ..._ground.equals import compare
from ..._ground.tally import Tally
from ..._parse._nvsmi import Gpu, Pcie
from .check_scope import Scope

Read = Callable[[Pcie], "int | None"]


def kind(gpu: Gpu) -> tuple[Hashable, ...]:
    return (gpu.name,)


def can(gpu: Gpu) -> tuple[Hashable, ...]:
    """Equal GPUs in equal slots."""
    return (gpu.name, gpu.pcie.gen_max, gpu.pcie.width_max)


def can_in_this_state(gpu: Gpu) -> tuple[Hashable, ...]:
    """An idle GPU lowers its link's speed: only GPUs in one state have one speed."""
    return (*can(gpu), gpu.performance, (gpu.clocks_events or {}).get("gpu_idle"))


def judge(tally: Tally, scope: Scope, what: str, read: Read, group: Callable[[Gpu], tuple[Hashable, ...]]) -> None:
    """Add the GPUs that have less than most of their equals, where nothing is told of them yet."""
    smi = scope.facts.smi_anyhow.value
    mine = {gpu.address for gpu in scope.gpus}
    gpus = {gpu.address: gpu for gpu in (smi.gpus if smi else ()) if gpu.address in mine}
    values = {address: read(gpu.pcie) for address, gpu in gpus.items()}
    texts = {address: "" if value is None else str(value) for address, value in values.items()}
    for address, odd in compare(texts, {address: group(gpu) for address, gpu in gpus.items()}).odd.items():
        if int(odd.value) < int(odd.usual) and not tally.is_bad(address):
            seen, due = f"{what} {odd.value}", f"{what} {odd.usual}"
            cause = f"the link of GPU {address} has {seen}, its equals have {odd.usual}"
            tally.bad(failed(tally.id, address, seen, due, odd.source, cause=cause))
