# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the NVLinks can do: peer access, which NCCL relies on behind NVSwitches; no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check
from ..._ground.tally import Tally
from ..._parse._nvlink import Header
from ..._parse.nvlink_caps import P2P, P2P_ATOMICS
from .check_links import in_mig
from .check_scope import MIG, MIG_SAID, NO_LINKS, SWITCHED, Scope, cannot_tell

CHECK = "nvlink.link.p2p"


def judge_caps(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.caps
    if reported.value is None:
        if _none_switched(scope) and _none_up(scope):
            tally = Tally(CHECK, "GPUs")
            yield from tally.checks(nothing="no link is up, and none leads to an NVSwitch")
        else:
            yield from cannot_tell((CHECK,), reported.why or "nobody looked")
        return
    tally = Tally(CHECK, "GPUs")
    for gpu in (*reported.value.gpus, *reported.value.headless):
        subject = gpu.gpu.label
        if in_mig(gpu.messages) and scope.mig(gpu.gpu.index):
            tally.left_out(subject, MIG)
        elif in_mig(gpu.messages):
            tally.unsure(subject, MIG_SAID)
        elif gpu.links:
            missing = scope.links_untold(gpu.gpu, set(gpu.links))
            _peers(tally, subject, gpu.links, missing, behind=_switched(scope, gpu.gpu))
        elif _switched(scope, gpu.gpu) or (not gpu.messages and scope.links_untold(gpu.gpu, set())):
            tally.unsure(subject, _said(gpu.messages))
        else:
            tally.left_out(subject, _said(gpu.messages))
    if reported.value.cut:
        tally.unsure("host", reported.value.cut)
    on_bus = scope.missing_from
    if on_bus is not None and on_bus > len(reported.value.gpus):
        tally.unsure("host", f"nvidia-smi lists {len(reported.value.gpus)} of {on_bus} GPUs")
    yield from tally.checks("P2P and its atomics", CAPABILITY, nothing=NO_LINKS)


def _switched(scope: Scope, gpu: Header) -> bool:
    model = scope.model(gpu)
    return model is not None and scope.kind(model) == SWITCHED


def _none_switched(scope: Scope) -> bool:
    return bool(scope.models) and all(model is not None and scope.kind(model) != SWITCHED for model in scope.models)


def _none_up(scope: Scope) -> bool:
    status = scope.facts.status.value
    return status is not None and not status.cut and not any(gpu.active for gpu in status.gpus)


def _said(messages: tuple[str, ...]) -> str:
    return messages[0] if messages else "nvidia-smi says nothing of its links"


def _peers(tally: Tally, subject: str, links: dict[int, dict[str, bool]], missing: str, *, behind: bool) -> None:
    """What every link can do; a lack counts only ``behind`` NVSwitches."""
    wrong: dict[str, list[int]] = {}
    for link, caps in links.items():
        for name in (P2P, P2P_ATOMICS):
            if caps.get(name) is False:
                wrong.setdefault(name, []).append(link)
    every = {P2P, P2P_ATOMICS, *(name for caps in links.values() for name in caps)}
    reported = all(every <= set(caps) for caps in links.values())
    if not wrong and reported and not missing:
        tally.good(subject)
        return
    if not wrong:
        tally.unsure(subject, missing or "not every link is told of P2P, its atomics and what others are told of")
        return
    if not behind:
        tally.left_out(subject, "only links behind NVSwitches promise peer access")
        return
    observed = "; ".join(f"no {name} on {len(found)} of {len(links)} links" for name, found in wrong.items())
    tally.fail(subject, observed, "P2P and its atomics", CAPABILITY)
