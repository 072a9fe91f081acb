# SPDX-License-Identifier: GPL-3.0-or-later
"""Waivers: failures that an operator knows of and accepts until a day that is named."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any, Container, Iterable, Sequence

from .._ground import catalog
from .._ground.check import FAIL, Check

# One waiver, as an argument spec; `ibready_waivers` is a list of them.
SPEC: dict[str, dict[str, Any]] = {
    "check": {"type": "str", "required": True},
    "host": {"type": "str", "required": True},
    "subject": {"type": "str"},
    "until": {"type": "str", "required": True},
    "reason": {"type": "str", "required": True},
}


class WaiverError(ValueError):
    """A waiver cannot be understood; the message names it."""


@dataclass(frozen=True)
class Waiver:
    """One accepted failure; ``subject`` "" stands for every subject of that check."""

    check: str
    host: str
    until: datetime.date
    reason: str
    subject: str = ""

    def is_for(self, check: Check, host: str) -> bool:
        """Whether it names this failure of this host."""
        mine = self.check == check.id and self.host == host and check.result == FAIL
        return mine and self.subject in ("", check.subject)


def parse(raw: Any, known: Container[str] | None = None) -> list[Waiver]:
    """Take over what the operator wrote; raises WaiverError.

    ``known``: every id there is. A node has those of the areas that it judges; of the others, only
    the area can be wrong there.
    """
    if not isinstance(raw, (list, tuple)):
        raise WaiverError(f"waivers must be a list, not {type(raw).__name__}")
    return [_waiver(number, entry, known) for number, entry in enumerate(raw, 1)]


def apply(checks: Iterable[Check], waivers: Sequence[Waiver], host: str, today: datetime.date) -> list[Check]:
    """The same checks, each failure marked with the waiver that holds, or that has expired.

    A waiver holds to the end of its last day. Only failures are ever waived: what could not be
    looked at stays unknown.
    """
    return [_marked(check, [waiver for waiver in waivers if waiver.is_for(check, host)], today) for check in checks]


def _marked(check: Check, mine: Sequence[Waiver], today: datetime.date) -> Check:
    if not mine:
        return check
    latest = max(mine, key=lambda entry: entry.until)
    if latest.until >= today:
        return replace(check, waived=f"until {latest.until.isoformat()}: {latest.reason}")
    return replace(check, evidence={**check.evidence, "waiver": f"expired {latest.until.isoformat()}: {latest.reason}"})


def _waiver(number: int, raw: Any, known: Container[str] | None) -> Waiver:
    where = f"waiver {number}"
    if not isinstance(raw, dict):
        raise WaiverError(f"{where} must be a dictionary, not {type(raw).__name__}")
    given = {key: value for key, value in raw.items() if value is not None}
    unknown = sorted(set(given) - set(SPEC))
    if unknown:
        raise WaiverError(f"{where}: {unknown[0]} is not known; known are {', '.join(SPEC)}")
    for key, option in SPEC.items():
        if option.get("required") and not str(given.get(key, "")).strip():
            raise WaiverError(f"{where}: {key} is missing")
    check = str(given["check"])
    areas = (*catalog.AREAS, catalog.FLEET)
    if check not in known if known is not None else check.partition(".")[0] not in areas:
        raise WaiverError(f"{where}: there is no check {given['check']!r} (docs/checks.md)")
    return Waiver(
        check=check,
        host=str(given["host"]),
        until=_day(where, given["until"]),
        reason=str(given["reason"]),
        subject=str(given.get("subject", "")),
    )


def _day(where: str, value: Any) -> datetime.date:
    """YAML reads 2026-12-31 as a date; JSON and quotes leave it a text."""
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        raise WaiverError(f"{where}: until must be a day like 2026-12-31, not {value!r}") from None
