# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the verdicts of a run object are those of its checks: every renderer believes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    READY,
    UNKNOWN,
    UNKNOWN_VERDICT,
    from_dict,
    verdict,
)


def wrong(run: Mapping[str, Any]) -> Iterator[str]:
    """What cannot be, of an object of shape.RUN or shape.STANDING, one at a time."""
    if not run["hosts"]:
        yield "hosts: there is none, and a run judges one at least"
    for name, one in run["hosts"].items():
        yield from _of(one, f"hosts.{name}")
    for number, one in enumerate((run.get("fabric") or {}).get("fabrics") or ()):
        yield from _of(one, f"fabric.fabrics[{number}]")


def _of(judged: Mapping[str, Any], where: str) -> Iterator[str]:
    for number, one in enumerate(judged["checks"]):
        if one["waived"] and one["result"] != FAIL:
            yield f"{where}.checks[{number}]: {one['result']} and waived, as only failures are"
    told = _verdict(judged["checks"])
    if judged["verdict"] != told:
        yield f"{where}.verdict: {judged['verdict']!r}, and its checks say {told!r}"


def _verdict(checks: list[dict[str, Any]]) -> str:
    """Only what may be wrong is turned into checks: it is the least."""
    if not checks:
        return UNKNOWN_VERDICT
    bad = [from_dict(one) for one in checks if one["result"] in (FAIL, UNKNOWN)]
    return verdict(bad) if bad else READY
