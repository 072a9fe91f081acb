# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge many equal things under one check: a finding for each bad one, one pass for all others."""

from __future__ import annotations

from .check import Check, failed, passed, skipped, unknown
from .text import few

_TOLD = 4


class Tally:
    """What became of each subject of one check; ``unit`` is what they are called in a pass."""

    def __init__(self, check_id: str, unit: str) -> None:
        self.id = check_id
        self.unit = unit
        self._good: list[str] = []
        self._bad: list[Check] = []
        self._unsure: dict[str, str] = {}
        self._left_out: dict[str, str] = {}
        self._told: list[str] = []

    def good(self, subject: str) -> None:
        """Looked at, and as it should be."""
        self._good.append(subject)

    def bad(self, check: Check) -> None:
        """Looked at, and wrong."""
        self._bad.append(check)

    def is_bad(self, subject: str) -> bool:
        """Whether something wrong was found of it already."""
        return any(check.subject == subject for check in self._bad)

    def fail(
        self, subject: str, observed: object, expected: object, source: str, *, cause: str = "", remedy: str = ""
    ) -> None:
        """Looked at, and wrong in these words."""
        self.bad(failed(self.id, subject, observed, expected, source, cause=cause, remedy=remedy))

    def tell(self, subject: str, what: str) -> None:
        """What a pass shows of one that is good: history that stands still."""
        self._told.append(f"{subject} {what}")

    def unsure(self, subject: str, why: str) -> None:
        """Could not be looked at."""
        self._unsure.setdefault(subject, why)

    def left_out(self, subject: str, why: str) -> None:
        """The property does not apply to this one."""
        self._left_out.setdefault(subject, why)

    def checks(self, expected: object = "", source: str = "", *, nothing: str) -> list[Check]:
        """The findings; without any a pass, or a skip where nothing was there to look at."""
        found = list(self._bad)
        if self._unsure:
            subject, why = next(iter(self._unsure.items()))
            more = len(self._unsure) - 1
            if more:
                subject, why = "host", f"{subject}: {why} (and {more} more like it)"
            found.append(unknown(self.id, subject, why))
        if found:
            return found
        if self._good:
            seen = f"{len(self._good)} {self.unit}"
            if self._left_out:
                seen += f"; not asked of {len(self._left_out)}: {_first(self._left_out)}"
            if self._told:
                seen += f"; {few(self._told, _TOLD)}"
            return [passed(self.id, "host", seen, expected, source)]
        return [skipped(self.id, "host", _first(self._left_out) or nothing)]


def _first(reasons: dict[str, str]) -> str:
    return next(iter(reasons.values()), "")
