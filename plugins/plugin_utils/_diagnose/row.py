# SPDX-License-Identifier: GPL-3.0-or-later
"""What the table of causes holds (causes/), and how the signs of a cause fit a finding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from .finding import Finding

# How surely a row's signs are the cause and no symptom: the check looks at the cause itself; it is the usual reason for
# what was seen; or one reason of several.
CONFIDENCE = ("sure", "likely", "possible")


@dataclass(frozen=True)
class Effect:
    """What a cause does to a job. ``says``: in the operator's words. ``loss``: the share of a job's
    bandwidth between nodes that is gone, 0 to 1; ``source``: where that is from. Without ``bandwidth``
    it is no such share, and only puts causes in order."""

    id: str
    says: str
    loss: float
    source: str
    bandwidth: bool = True


@dataclass(frozen=True)
class ActKind:
    """What a repair does. ``drains``: jobs have to be off the host first. ``undo``: what undoes it, in words."""

    id: str
    says: str
    drains: bool
    undo: str


@dataclass(frozen=True)
class Fix:
    """The one command for a cause.

    ``play``: words after `ansible-playbook`, run for the cause's hosts; or ``words``: a command
    that `ansible` runs on them. ``{device}`` and its like stand for what values.py finds of the
    first finding; where one of them is not known, ``otherwise`` is run instead. ``mends``: whether
    that is all, or only shows what hands have to do. ``act``: the kind of act that it is, "" where it
    mends nothing. ``note``: what to know before, or to do besides.
    """

    play: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()
    mends: bool = True
    act: str = ""
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One cause. A sign is a check's id (``*`` as in file names), and after ``~`` a regular
    expression that "observed | expected | cause | subject [kind]" has to hold.

    ``signs``: findings that are this cause, where no row above has them. What it explains stands in
    rows below: ``same`` of the same part of the host, ``rail`` of the same rail on any host,
    ``here`` of the same host, ``far`` of any host or a job; ``whole``: like far, where all rails of
    a host are hit. ``fleet``: one cause for all hosts that have it; ``joins``: one for those that
    joins.py finds to be one fault. ``ratio``: the loss follows from observed and expected;
    ``share``: from how many of the host's rails are hit.
    """

    id: str
    title: str
    effect: Effect
    signs: tuple[str, ...]
    fix: Fix
    same: tuple[str, ...] = ()
    rail: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    far: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    fleet: bool = False
    joins: str = ""
    ratio: bool = False
    share: bool = False
    loss: float | None = None
    confidence: str = CONFIDENCE[0]
    source: str = "the checks' own entries (docs/checks.md)"

    @property
    def explains(self) -> tuple[str, ...]:
        """The signs of all that it explains."""
        return (*self.same, *self.rail, *self.here, *self.far, *self.whole)


def fits(sign: str, finding: Finding) -> bool:
    """Whether a finding is what a sign stands for."""
    ids, _mark, says = sign.partition("~")
    if not _names(ids, finding.check.id):
        return False
    return not says or _compiled(says).search(finding.text) is not None


@cache
def _names(ids: str, check_id: str) -> bool:
    return fnmatchcase(check_id, ids)


@cache
def _compiled(says: str) -> re.Pattern[str]:
    return re.compile(says)
