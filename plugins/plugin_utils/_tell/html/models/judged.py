# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks of a host say of one of its parts, in one word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .....module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN

OK, WAIVED, NOT_LOOKED = "ok", "waived", "none"
# The worst first. Nobody looked at what no check passed on.
ORDER = (FAIL, UNKNOWN, NOT_LOOKED, WAIVED, OK)
_WORDS = {PASS: OK, FAIL: FAIL, UNKNOWN: UNKNOWN}

Said = Mapping[str, Any]


def word(checks: Iterable[Said], proof: Iterable[str]) -> str:
    """The worst of these checks; OK only where one of ``proof`` (ids) passed, or is waived."""
    seen: set[str] = set()
    proved = False
    wanted = set(proof)
    for check in checks:
        result = str(check.get("result"))
        if result == SKIP:
            continue
        said = WAIVED if check.get("waived") else _WORDS.get(result, UNKNOWN)
        seen.add(said)
        proved = proved or (said in (OK, WAIVED) and str(check.get("id")) in wanted)
    if not proved:
        seen.add(NOT_LOOKED)
        seen.discard(OK)
    return next(entry for entry in ORDER if entry in seen)


def by_subject(checks: Iterable[Said], areas: tuple[str, ...]) -> dict[str, list[Said]]:
    """Checks whose id begins with one of ``areas``, by what they are of."""
    found: dict[str, list[Said]] = {}
    for check in checks:
        if str(check.get("id")).startswith(areas):
            found.setdefault(str(check.get("subject")), []).append(check)
    return found


def why(checks: Iterable[Said]) -> str:
    """What was seen, or why not, of the worst of these checks; "" where all is well."""
    bad = [check for check in checks if check.get("result") in (FAIL, UNKNOWN)]
    bad.sort(key=lambda entry: (bool(entry.get("waived")), entry.get("result") != FAIL))
    if not bad:
        return ""
    reported = str(bad[0].get("observed") or bad[0].get("cause") or "")
    return f"{bad[0].get('id')}: {reported}"
