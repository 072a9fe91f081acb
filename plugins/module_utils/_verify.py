# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at one host and judge it: evidence and expectations in, checks and facts out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    container as judge_container,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    fabric as judge_fabric,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks import gpu as judge_gpu
from ansible_collections.ibready.cluster.plugins.module_utils._checks import host as judge_host
from ansible_collections.ibready.cluster.plugins.module_utils._checks import ib as judge_ib
from ansible_collections.ibready.cluster.plugins.module_utils._checks import nccl as judge_nccl
from ansible_collections.ibready.cluster.plugins.module_utils._checks import nvlink as judge_nvlink
from ansible_collections.ibready.cluster.plugins.module_utils._checks import pci as judge_pci
from ansible_collections.ibready.cluster.plugins.module_utils._checks import roce as judge_roce
from ansible_collections.ibready.cluster.plugins.module_utils._checks import stack as judge_stack
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import FAIL, Check
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Cached, Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    Expectations,
    with_profile,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._observe import (
    container,
    fabric,
    gpu,
    host,
    ib,
    machine,
    nccl,
    nvlink,
    pci,
    roce,
    stack,
)
from ansible_collections.ibready.cluster.plugins.module_utils._quotes import quoted


@dataclass(frozen=True)
class Judged:
    """All that was found out about one host; ``facts`` by area, as JSON-ready dictionaries."""

    checks: list[Check]
    facts: dict[str, Any]


def _ib(evidence: Evidence, host: Machine, expect: Expectations) -> tuple[Any, list[Check]]:
    facts = ib.observe(evidence, host)
    return facts, judge_ib.judge(facts, expect)


def _area(observer: Any, judge: Any) -> Callable[..., tuple[Any, list[Check]]]:
    def look(evidence: Evidence, host: Machine, expect: Expectations) -> tuple[Any, list[Check]]:
        facts = observer.observe(evidence, host)
        return facts, judge.judge(facts, host, expect)

    return look


def _asked(observer: Any, judge: Any) -> Callable[..., tuple[Any, list[Check]]]:
    """An area whose look depends on what the site says."""

    def look(evidence: Evidence, host: Machine, expect: Expectations) -> tuple[Any, list[Check]]:
        facts = observer.observe(evidence, host, expect)
        return facts, judge.judge(facts, host, expect)

    return look


# In reading order: a report says what is wrong below before what fails because of it.
_LOOKS: dict[str, Callable[..., tuple[Any, list[Check]]]] = {
    "host": _area(host, judge_host),
    "pci": _area(pci, judge_pci),
    "ib": _ib,
    "roce": _area(roce, judge_roce),
    "fabric": _area(fabric, judge_fabric),
    "gpu": _area(gpu, judge_gpu),
    "nvlink": _area(nvlink, judge_nvlink),
    "stack": _area(stack, judge_stack),
    "nccl": _asked(nccl, judge_nccl),
    "container": _asked(container, judge_container),
}
AREAS = tuple(_LOOKS)


def verify(evidence: Evidence, expect: Expectations, areas: Sequence[str] = AREAS) -> Judged:
    """Every check of these areas (names of AREAS; KeyError on another)."""
    known = Cached(evidence)
    profile = expect.get("profile")
    seen = machine.observe(known, str(profile.value) if profile else "")
    wanted = with_profile(expect, seen.board)
    checks: list[Check] = []
    facts: dict[str, Any] = {"machine": seen.to_dict()}
    for area in AREAS:
        if area not in areas:
            continue
        looked = known
        found, judged = _LOOKS[area](looked, seen, wanted)
        if any(one.id == "ib.sources.agree" and one.result == FAIL for one in judged):
            # A port may have changed between the two looks; what stays on a second look is real.
            looked = Cached(evidence)
            found, judged = _LOOKS[area](looked, seen, wanted)
        facts[area] = found.to_dict()
        checks += quoted(judged, looked)
    return Judged(checks, facts)
