# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the NVLinks can do: peer access, which NCCL relies on behind NVSwitches; no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._checks._tally import Tally
from ansible_collections.ibready.cluster.plugins.module_utils._checks.nvlink_links import in_mig
from ansible_collections.ibready.cluster.plugins.module_utils._checks.nvlink_scope import (
    MIG,
    MIG_SAID,
    NO_LINKS,
    SWITCHED,
    Scope,
    cannot_tell,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvlink import Header
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_caps import (
    P2P,
    P2P_ATOMICS,
)

CHECK = "nvlink.link.p2p"


def judge_caps(scope: Scope) -> Iterator[Check]:
    told = scope.facts.caps
    if told.value is None:
        if _none_switched(scope):
            tally = Tally(CHECK, "GPUs")
            yield from tally.checks(nothing="no GPU of this host is joined by NVSwitches")
        else:
            yield from cannot_tell((CHECK,), told.why or "nobody looked")
        return
    tally = Tally(CHECK, "GPUs")
    for gpu in told.value.gpus:
        subject = gpu.gpu.label
        if in_mig(gpu.messages) and scope.mig(gpu.gpu.index):
            tally.left_out(subject, MIG)
        elif in_mig(gpu.messages):
            tally.unsure(subject, MIG_SAID)
        elif gpu.links:
            missing = scope.links_untold(gpu.gpu, set(gpu.links))
            _peers(tally, subject, gpu.links, missing, behind=_switched(scope, gpu.gpu))
        elif _switched(scope, gpu.gpu):
            tally.unsure(subject, _said(gpu.messages))
        else:
            tally.left_out(subject, _said(gpu.messages))
    on_bus = scope.missing_from
    if on_bus is not None and on_bus > len(told.value.gpus):
        tally.unsure("host", f"nvidia-smi lists {len(told.value.gpus)} of {on_bus} GPUs")
    yield from tally.checks("P2P and its atomics", CAPABILITY, nothing=NO_LINKS)


def _switched(scope: Scope, gpu: Header) -> bool:
    model = scope.model(gpu)
    return model is not None and scope.kind(model) == SWITCHED


def _none_switched(scope: Scope) -> bool:
    return bool(scope.models) and all(
        one is not None and scope.kind(one) != SWITCHED for one in scope.models
    )


def _said(messages: tuple[str, ...]) -> str:
    return messages[0] if messages else "nvidia-smi says nothing of its links"


def _peers(
    tally: Tally, subject: str, links: dict[int, dict[str, bool]], missing: str, *, behind: bool
) -> None:
    """What every link can do; a lack counts only ``behind`` NVSwitches."""
    wrong: dict[str, list[int]] = {}
    for link, caps in links.items():
        for name in (P2P, P2P_ATOMICS):
            if caps.get(name) is False:
                wrong.setdefault(name, []).append(link)
    told = all(name in caps for caps in links.values() for name in (P2P, P2P_ATOMICS))
    if not wrong and told and not missing:
        tally.good(subject)
        return
    if not wrong:
        tally.unsure(subject, missing or "not every link is told of P2P and of its atomics")
        return
    if not behind:
        tally.left_out(subject, "only links behind NVSwitches promise peer access")
        return
    observed = "; ".join(
        f"no {name} on {len(found)} of {len(links)} links" for name, found in wrong.items()
    )
    tally.bad(failed(tally.id, subject, observed, "P2P and its atomics", CAPABILITY))
