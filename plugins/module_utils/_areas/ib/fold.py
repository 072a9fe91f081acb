# SPDX-License-Identifier: GPL-3.0-or-later
"""Fold many equal results into one: nobody reads that 64 counters of eight ports are fine."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator

from ..._ground.check import FAIL, PASS, UNKNOWN, Check


def fold(checks: Iterable[Check], what: str) -> Iterator[Check]:
    """One check for all with the same id, result and cause; a failure stays its subject's own.

    ``what``: the plural of the subjects. Of what was observed and expected the common part stays.
    A pass speaks for all that were looked at, so there is none beside an unknown.
    """
    groups: dict[tuple[str, str, str], list[Check]] = {}
    unknown: set[str] = set()
    for check in checks:
        own = check.subject if check.result == FAIL else ""
        groups.setdefault((check.id, check.result, own or check.cause), []).append(check)
        if check.result == UNKNOWN:
            unknown.add(check.id)
    for (check_id, result, _cause), mine in groups.items():
        if result == PASS and check_id in unknown:
            continue
        yield mine[0] if len(mine) == 1 else _all(mine, what)


def _all(mine: list[Check], what: str) -> Check:
    first = mine[0]
    observed = f"{len(mine)} {what}"
    if len({check.observed for check in mine}) == 1 and first.observed:
        observed += f": {first.observed}"
    expected = {check.expected for check in mine}
    return replace(first, subject="host", observed=observed, expected=first.expected if len(expected) == 1 else "")
