# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check result is, and what a list of them amounts to (docs/checks.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Sequence

from .catalog import entry
from .text import UNSAID

PASS = "pass"
FAIL = "fail"
UNKNOWN = "unknown"
SKIP = "skip"
# The catalog's remedy is for what is wrong; nobody knows yet whether anything is.
LOOK_AGAIN = "fix what kept this from being looked at, then verify again"
SEVERITIES = ("error", "warning")

READY = "ready"
DEGRADED = "degraded"
UNKNOWN_VERDICT = "unknown"
NOT_READY = "not_ready"
# The word for people where nothing of what was asked for is on the host. The verdict of such checks is ready.
SKIPPED = "skipped"


class Cause(str):
    """Why something is wrong, with what mends just that: a cause in plain words has the catalog's remedy."""

    remedy: str

    def __new__(cls, says: str, remedy: str) -> Cause:
        cause = super().__new__(cls, says)
        cause.remedy = remedy
        return cause

    def __reduce__(self) -> tuple[type[Cause], tuple[str, str]]:
        # Facts that hold one are copied.
        return Cause, (str(self), self.remedy)


@dataclass(frozen=True)
class Check:
    """One judged property of one subject.

    ``subject`` is what the check looked at (``mlx5_3/1``, ``ibstat``, ``host``). ``expected_from``
    says who expects ``expected``: ``inventory``, ``profile NAME``, ``capability``, ``equals n/m``
    or ``fleet n/m``.
    ``waived``: until when and why a failure does not count; see _expect/waivers.
    """

    id: str
    subject: str
    result: str
    severity: str
    observed: str = ""
    expected: str = ""
    expected_from: str = ""
    cause: str = ""
    remedy: str = ""
    evidence: dict[str, str] = field(default_factory=dict)
    waived: str = ""

    def to_dict(self) -> dict[str, Any]:
        # Not asdict: a fleet's report has hundreds of these a host, all of them flat.
        return {**self.__dict__, "evidence": dict(self.evidence)}


def passed(check_id: str, subject: str, observed: object, expected: object = "", source: str = "") -> Check:
    """A property that was looked at and is as expected."""
    return Check(check_id, subject, PASS, entry(check_id).severity, str(observed), str(expected), source)


def failed(
    check_id: str,
    subject: str,
    observed: object,
    expected: object,
    source: str,
    *,
    cause: str = "",
    remedy: str = "",
) -> Check:
    """A property that was looked at and is wrong; cause and remedy default to the catalog's, the remedy of a Cause
    to its own."""
    known = entry(check_id)
    remedy = remedy or (cause.remedy if isinstance(cause, Cause) else "") or known.remedy
    return Check(
        check_id,
        subject,
        FAIL,
        known.severity,
        str(observed),
        str(expected),
        source,
        str(cause) or known.causes[0],
        remedy,
    )


def grave(check: Check) -> Check:
    """A finding by which jobs fail now, where its check mostly tells of less."""
    return replace(check, severity=SEVERITIES[0])


def outcome(
    holds: bool,
    check_id: str,
    subject: str,
    observed: object,
    expected: object,
    source: str,
    *,
    cause: str = "",
    remedy: str = "",
) -> Check:
    """A property that was looked at, passed where it holds; cause and remedy are a failure's."""
    if holds:
        return passed(check_id, subject, observed, expected, source)
    return failed(check_id, subject, observed, expected, source, cause=cause, remedy=remedy)


def unknown(check_id: str, subject: str, why: str, *, observed: object = "", remedy: str = "") -> Check:
    """A property that could not be looked at, or that nothing is expected of."""
    known = entry(check_id)
    return Check(check_id, subject, UNKNOWN, known.severity, str(observed), cause=why, remedy=remedy or LOOK_AGAIN)


def skipped(check_id: str, subject: str, why: str) -> Check:
    """A property that this host does not have; never used for "could not look"."""
    return Check(check_id, subject, SKIP, entry(check_id).severity, cause=why)


def is_ours(check: Check) -> bool:
    """Whether result and severity are words that a verdict is folded from."""
    return check.result in (PASS, FAIL, UNKNOWN, SKIP) and check.severity in SEVERITIES


def from_dict(raw: dict[str, Any]) -> Check:
    """Rebuild a check from what a module returned; TypeError or ValueError on what is not ours."""
    check = Check(**raw)
    if not is_ours(check):
        raise ValueError(f"{check.id}: result {check.result!r}, severity {check.severity!r}")
    said, evidence = {**check.__dict__, "evidence": ""}, check.evidence
    if not isinstance(evidence, dict) or not all(
        isinstance(line, str) for line in (*said.values(), *evidence, *evidence.values())
    ):
        raise ValueError(f"{check.id}: not all of it is text")
    return check


def verdict(checks: Sequence[Check]) -> str:
    """Fold checks into ready, degraded, unknown or not_ready. No check at all is unknown.

    A skip was looked at as well: a host without GPUs is ready as far as its GPUs go.
    """
    if not checks:
        return UNKNOWN_VERDICT
    seen = [check for check in checks if not check.waived]
    errors = {check.result for check in seen if check.severity == "error"}
    if FAIL in errors:
        return NOT_READY
    if UNKNOWN in errors:
        return UNKNOWN_VERDICT
    if any(check.result in (FAIL, UNKNOWN) for check in seen):
        return DEGRADED
    return READY


def verdict_word(checks: Sequence[Check]) -> str:
    """The word for people: the verdict, or ``skipped`` where all of the checks are of what the host does not have, so
    that nothing was looked at that could be ready."""
    return SKIPPED if checks and all(check.result == SKIP for check in checks) else verdict(checks)


def absent(checks: Sequence[Check]) -> list[str]:
    """Why checks are skipped, the commonest reason first."""
    reasons = Counter(check.cause for check in checks if check.result == SKIP)
    return [f"{number} skipped: {reason}" for reason, number in reasons.most_common()]


def counts(checks: Iterable[Check]) -> str:
    """``34 pass, 1 fail, 1 waived``: how many checks ended how; what did not occur is left out."""
    return counted("waived" if check.waived else check.result for check in checks)


def counted(results: Iterable[str]) -> str:
    """The same of results, of which a failure that is waived is ``waived``."""
    seen = Counter(results)
    order = (PASS, FAIL, UNKNOWN, "waived", SKIP)
    return ", ".join(f"{seen[entry]} {entry}" for entry in order if seen[entry])


def trouble(checks: Iterable[Check]) -> list[Check]:
    """The checks that keep a host from being ready: errors first, failures before unknowns."""
    bad = [check for check in checks if check.result in (FAIL, UNKNOWN) and not check.waived]
    return sorted(bad, key=lambda check: (check.severity != "error", check.result != FAIL))


def sentence(check: Check) -> str:
    """One check in one line, for messages: what was seen, what was expected and from where."""
    if check.result == UNKNOWN:
        text = f"{check.id} {check.subject}: unknown, {check.cause}"
    else:
        text = f"{check.id} {check.subject}: {check.observed}"
        if check.expected:
            text += f", expected {check.expected} ({check.expected_from})"
        if check.cause:
            text += f"; {check.cause if UNSAID in check.cause else f'likely cause: {check.cause}'}"
    return f"{text}; next: {check.remedy}" if check.remedy else text
