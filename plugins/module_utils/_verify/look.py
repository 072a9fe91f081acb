# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at one host, or its bundle, and judge it: the areas in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from .._areas.area import Area
from .._areas.machine import observe as machine
from .._areas.machine.facts import Machine
from .._equals import judge as equals, parts, summary
from .._evidence.sources import Cached, Evidence
from .._expect.expectations import Expectations, with_profile
from .._ground.check import FAIL, Check
from .quotes import quoted


@dataclass(frozen=True)
class Judged:
    """All that was found out about one host; ``facts`` by area, as JSON-ready dictionaries.

    ``evidence``: what was read of it, for who asks more without another look.
    """

    checks: list[Check]
    facts: dict[str, Any]
    evidence: Evidence


def meet(evidence: Evidence, expect: Expectations) -> tuple[Machine, Expectations]:
    """Which machine it is, and what is expected of it by that as well."""
    profile = expect.get("profile")
    seen = machine.observe(evidence, str(profile.value) if profile else "", expect.ignore)
    return seen, with_profile(expect, seen.board, seen.network.value or "")


def look(evidence: Evidence, expect: Expectations, areas: Sequence[Area]) -> Judged:
    """Every check of these areas."""
    known = Cached(evidence)
    seen, wanted = meet(known, expect)
    checks: dict[str, list[Check]] = {}
    facts: dict[str, Any] = {"machine": seen.to_dict()}
    for area in areas:
        looked = known
        found = area.observe(looked, seen, wanted)
        judged = area.judge(found, seen, wanted)
        if any(check.id == "ib.sources.agree" and check.result == FAIL for check in judged):
            # A port may have changed between the two looks; what stays on a second look is real.
            looked = Cached(evidence)
            found = area.observe(looked, seen, wanted)
            judged = area.judge(found, seen, wanted)
            known.renew(looked)
        facts[area.name] = found.to_dict()
        checks[area.name] = quoted(judged, looked)
    members = [part for part in parts.of(known) if not wanted.ignores(*part.names, part.subject)]
    for area in areas:
        told = [check for some in checks.values() for check in some]
        checks[area.name] += quoted(equals.judge(area.name, members, wanted, told), known)
    if "host" in facts:
        parts.ask(known)
        facts.update(summary.told([*members, parts.host(known, members)]))
    return Judged([check for some in checks.values() for check in some], facts, known)
