# SPDX-License-Identifier: GPL-3.0-or-later
"""From findings to candidates: which row each finding is, and what explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import joins, loss
from .finding import Finding
from .row import Row, fits

_JOB = "nccl.log."


@dataclass
class Candidate:
    """One row that findings fit, on one host or (``Row.fleet``) on all that have it, or of one fault (``Row.joins``).

    ``signs``: all findings that fit, ``parts``: what they are about, as (host, part); ``own``:
    those that nothing else explains. ``explained`` and ``hidden``: failures and unknowns of others
    that it explains. ``root``: where nothing is left of it, what it is folded into. ``above``:
    candidates that explain a part of it.
    """

    row: Row
    at: int
    signs: list[Finding] = field(default_factory=list)
    parts: set[tuple[str, str]] = field(default_factory=set)
    own: list[Finding] = field(default_factory=list)
    explained: list[tuple[Row, Finding]] = field(default_factory=list)
    hidden: list[Finding] = field(default_factory=list)
    root: Candidate | None = None
    above: list[Candidate] = field(default_factory=list)

    @property
    def hosts(self) -> list[str]:
        """Its hosts, in the order in which they were found."""
        return list(dict.fromkeys(sign.host for sign in self.signs))


class Pool:
    """All candidates, to be asked which of them explain a finding."""

    def __init__(self, rows: Sequence[Row], hosts: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._hosts = hosts
        self._all: dict[tuple[int, str], Candidate] = {}
        self._joined: dict[int, list[Finding]] = {}
        self._on: dict[str, list[Candidate]] = {}
        # Of those that explain what is elsewhere the first of each row stands for all.
        self._on_rail: dict[str, dict[int, Candidate]] = {}
        self._anywhere: dict[int, Candidate] = {}
        self._hit_whole: dict[int, Candidate] = {}

    def add(self, finding: Finding) -> None:
        """Put a failure where its row is; it belongs to the first one that it fits. Equals that differ are one."""
        at, row = next((at, row) for at, row in enumerate(self._rows) if _any(row.signs, finding))
        if row.joins:
            self._joined.setdefault(at, []).append(finding)
            return
        key = (at, "" if row.fleet or finding.split else finding.host)
        self._all.setdefault(key, Candidate(row, at)).signs.append(finding)

    def settle(self) -> list[Candidate]:
        """All of them in the table's order, once every failure was added."""
        for at, findings in self._joined.items():
            row = self._rows[at]
            for number, mine in enumerate(joins.faults(row.joins, findings, self._hosts)):
                self._all[at, f"{number:09}"] = Candidate(row, at, mine)
        settled = [entry for _unused, entry in sorted(self._all.items())]
        for candidate in settled:
            candidate.own = list(candidate.signs)
            candidate.parts = {(sign.host, sign.part) for sign in candidate.signs if sign.part}
            for host in candidate.hosts:
                self._on.setdefault(host, []).append(candidate)
            for part in {part for _unused, part in candidate.parts}:
                self._on_rail.setdefault(part, {}).setdefault(candidate.at, candidate)
            self._anywhere.setdefault(candidate.at, candidate)
            if candidate.row.whole and self._hits_all(candidate):
                self._hit_whole.setdefault(candidate.at, candidate)
        return settled

    def explainer(self, finding: Finding, below: int) -> Candidate | None:
        """The first candidate above this place of the table that explains the finding; where
        several of one row do, one of the finding's own host."""
        able = (candidate for candidate in self._able(finding) if candidate.at < below)
        return min(able, key=lambda entry: entry.at, default=None)

    def _able(self, finding: Finding) -> Iterator[Candidate]:
        of_job = finding.check.id.startswith(_JOB)
        for candidate in self._on.get(finding.host, ()):
            mine = (finding.host, finding.part) in candidate.parts
            if (
                _any((*candidate.row.here, *candidate.row.far), finding)
                or (mine and _any((*candidate.row.same, *candidate.row.rail), finding))
                or (of_job and not finding.part and _any(candidate.row.rail, finding))
            ):
                yield candidate
        on_rail = self._on_rail.get(finding.part, {}) if finding.part else {}
        for candidate in (self._anywhere if of_job and not finding.part else on_rail).values():
            if _any(candidate.row.rail, finding):
                yield candidate
        for candidate in self._anywhere.values():
            if _any(candidate.row.far, finding):
                yield candidate
        for hit_part in self._hit_whole.values():
            if _any(hit_part.row.whole, finding):
                yield hit_part

    def _hits_all(self, candidate: Candidate) -> bool:
        """Whether a host has it on all of its rails."""
        for host in candidate.hosts:
            mine = [finding for finding in candidate.signs if finding.host == host]
            rails = loss.rails_of(mine[0], self._hosts)
            if rails and loss.hit(mine) >= rails:
                return True
        return False


def _any(signs: Iterable[str], finding: Finding) -> bool:
    return any(fits(sign, finding) for sign in signs)


def explain(rows: Sequence[Row], pool: Pool, unknown: Iterable[Finding]) -> list[Candidate]:
    """Hand every explained finding to what explains it; gives the candidates that are left.

    A candidate of which nothing is left is folded into what explains it, with all that it explains
    itself. The unknown findings that nothing explains stay with the caller.
    """
    settled = pool.settle()
    for candidate in settled:
        left: list[Finding] = []
        for finding in candidate.own:
            above = pool.explainer(finding, candidate.at)
            if above is None:
                left.append(finding)
                continue
            root = above.root or above
            root.explained.append((candidate.row, finding))
            if all(root is not other for other in candidate.above):
                candidate.above.append(root)
        candidate.own = left
        if not left:
            candidate.root = candidate.above[0]
    for finding in unknown:
        above = pool.explainer(finding, len(rows))
        if above is not None:
            (above.root or above).hidden.append(finding)
    return [candidate for candidate in settled if candidate.own]
