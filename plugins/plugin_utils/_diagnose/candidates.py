# SPDX-License-Identifier: GPL-3.0-or-later
"""From findings to candidates: which row each finding is, and what explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import loss
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Row, fits

_JOB = "nccl.log."


@dataclass
class Candidate:
    """One row that findings fit, on one host or (``Row.fleet``) on all that have it.

    ``signs``: all findings that fit; ``own``: those that nothing else explains. ``explained`` and
    ``hidden``: failures and unknowns of others that it explains. ``whole``: it hits all rails of a
    host. ``above``: candidates that explain a part of this one.
    """

    row: Row
    at: int
    signs: list[Finding] = field(default_factory=list)
    own: list[Finding] = field(default_factory=list)
    explained: list[tuple[Row, Finding]] = field(default_factory=list)
    hidden: list[Finding] = field(default_factory=list)
    whole: bool = False
    root: Candidate | None = None
    above: list[Candidate] = field(default_factory=list)

    @property
    def parts(self) -> set[tuple[str, str]]:
        """The parts of hosts that its signs are about, as (host, part)."""
        return {(one.host, one.part) for one in self.signs if one.part}

    @property
    def hosts(self) -> list[str]:
        """Its hosts, in the order in which they were found."""
        return list(dict.fromkeys(one.host for one in self.signs))


class Pool:
    """All candidates, to be asked which of them explain a finding."""

    def __init__(self, rows: Sequence[Row], hosts: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._hosts = hosts
        self._all: dict[tuple[int, str], Candidate] = {}
        self._on: dict[str, list[Candidate]] = {}
        self._of_part: dict[str, list[Candidate]] = {}
        self._far: list[Candidate] = []

    def add(self, finding: Finding) -> None:
        """Put a failure where its row is; it belongs to the first one that it fits."""
        at = next(
            at for at, row in enumerate(self._rows) if any(fits(s, finding) for s in row.signs)
        )
        row = self._rows[at]
        key = (at, "" if row.fleet else finding.host)
        self._all.setdefault(key, Candidate(row, at)).signs.append(finding)

    def settle(self) -> list[Candidate]:
        """All of them in the table's order, once every failure was added."""
        settled = [one for _, one in sorted(self._all.items())]
        for one in settled:
            one.own = list(one.signs)
            for host in one.hosts:
                self._on.setdefault(host, []).append(one)
            for part in {part for _, part in one.parts}:
                self._of_part.setdefault(part, []).append(one)
            if one.row.rail or one.row.far or one.row.whole:
                self._far.append(one)
            if one.row.whole:
                one.whole = self._hits_all(one)
        return settled

    def explainer(self, finding: Finding, below: int) -> Candidate | None:
        """The first candidate above this place of the table that explains the finding."""
        some = (one for one in self._near(finding) if one.at < below)
        able = [one for one in some if _explains(one, finding)]
        return min(able, key=lambda one: (one.at, one.hosts), default=None)

    def _near(self, finding: Finding) -> Iterator[Candidate]:
        yield from self._on.get(finding.host, ())
        if finding.part:
            yield from self._of_part.get(finding.part, ())
        if finding.check.id.startswith((_JOB, "fabric.")):
            yield from self._far

    def _hits_all(self, one: Candidate) -> bool:
        for host in one.hosts:
            mine = [finding for finding in one.signs if finding.host == host]
            rails = loss.rails_of(mine[0], self._hosts)
            if rails and loss.hit(mine) >= rails:
                return True
        return False


def _explains(one: Candidate, finding: Finding) -> bool:
    row = one.row
    hosts = {sign.host for sign in one.signs}
    parts = one.parts
    if (finding.host, finding.part) in parts and _any(row.same, finding):
        return True
    if finding.host in hosts and _any(row.here, finding):
        return True
    rails = {part for _, part in parts}
    of_job = finding.check.id.startswith(_JOB) and not finding.part
    if (of_job or finding.part in rails) and _any(row.rail, finding):
        return True
    return _any(row.far, finding) or (one.whole and _any(row.whole, finding))


def _any(signs: Iterable[str], finding: Finding) -> bool:
    return any(fits(sign, finding) for sign in signs)


def explain(rows: Sequence[Row], pool: Pool, unknown: Iterable[Finding]) -> list[Candidate]:
    """Hand every explained finding to what explains it; gives the candidates that are left.

    A candidate of which nothing is left is folded into what explains it, with all that it explains
    itself. The unknown findings that nothing explains stay with the caller.
    """
    settled = pool.settle()
    for one in settled:
        left: list[Finding] = []
        for finding in one.own:
            above = pool.explainer(finding, one.at)
            if above is None:
                left.append(finding)
                continue
            root = above.root or above
            root.explained.append((one.row, finding))
            if root not in one.above:
                one.above.append(root)
        one.own = left
        if not left:
            one.root = one.above[0]
    for finding in unknown:
        above = pool.explainer(finding, len(rows))
        if above is not None:
            (above.root or above).hidden.append(finding)
    return [one for one in settled if one.own]
