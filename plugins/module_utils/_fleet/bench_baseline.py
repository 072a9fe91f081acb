# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold what was measured now against what was measured before: values in, checks out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping

from .._ground.check import Check, outcome, skipped, unknown
from .bench import AGAIN, Usual


@dataclass(frozen=True)
class Value:
    """One number. ``name``: what was measured, the same in every run. ``spread``: its median
    absolute deviation, that of equal things where it was measured once.

    ``check``: the id that judges it, ``host`` and ``subject``: whose it is.
    """

    name: str
    value: float
    unit: str
    spread: float
    check: str
    host: str
    subject: str

    @property
    def more_is_better(self) -> bool:
        return self.unit != "us"


def judge(now: Iterable[Value], before: Mapping[str, Value], source: str) -> dict[str, list[Check]]:
    """Checks per host, one for each id and subject; the worst of its values tells.

    ``source``: which baseline, with its day. Without any value of before there is none to compare
    with, and that is told as a skip: this run makes the baseline.
    """
    groups: dict[tuple[str, str, str], list[Value]] = {}
    for entry in now:
        groups.setdefault((entry.host, entry.check, entry.subject), []).append(entry)
    checks: dict[str, list[Check]] = {}
    seen: set[str] = set()
    for (host, check, subject), values in groups.items():
        seen.update(value.name for value in values)
        checks.setdefault(host, []).append(_one(check, subject, values, before, source))
    gone: dict[tuple[str, str, str], list[str]] = {}
    for name, item in before.items():
        if name not in seen and (item.host, item.check, item.subject) not in groups:
            gone.setdefault((item.host, item.check, item.subject), []).append(name)
    for (host, check, subject), names in gone.items():
        why = f"{len(names)} values of the baseline were not measured this time"
        checks.setdefault(host, []).append(unknown(check, subject, why, remedy=AGAIN))
    return checks


def _one(check: str, subject: str, values: list[Value], before: Mapping[str, Value], source: str) -> Check:
    known = [(value, before[value.name]) for value in values if value.name in before]
    if not known:
        why = f"the {source} has nothing of this" if source else "there was no baseline"
        return skipped(check, subject, why)
    worst, then = min(known, key=lambda pair: _ratio(*pair))
    usual = Usual(then.value, then.spread, 1)
    better = worst.more_is_better
    limit = usual.limit(more_is_better=better)
    expected = f"{'at least' if better else 'at most'} {limit:.4g} {worst.unit}"
    reported = f"{worst.value:.4g} {worst.unit}, {then.value:.4g} before ({worst.name})"
    return outcome(not usual.is_worse(worst.value, more_is_better=better), check, subject, reported, expected, source)


def _ratio(now: Value, then: Value) -> float:
    """Below 1 where it got worse."""
    if now.more_is_better:
        return now.value / then.value if then.value else 1.0
    return then.value / now.value if now.value else 1.0
