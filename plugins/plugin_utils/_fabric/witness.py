# SPDX-License-Identifier: GPL-3.0-or-later
"""What two hosts say of one fabric, held together: nothing that one of them says alone is a failure of another host."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ...module_utils._fleet.blame import doubted
from ...module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from . import check_hcas, check_rails
from .model import Hca, Inventory

_ACTIVE = "Active"


@dataclass(frozen=True)
class Word:
    """What came of one host's looks. ``teller``: that host."""

    teller: str
    checks: Sequence[Check]


def agreed(one: Word, two: Word, general: Collection[str] | None = None) -> list[Word]:
    """The checks of both as one, by who tells them: of both looks together ("" for the teller), or of one alone
    where the other could not look. One word in both is none that bears itself out, and is told as it is.

    ``general``: subjects of checks that are about nobody in particular; None where all are.
    """
    if one.teller == two.teller:
        return [Word("", one.checks)]
    found: dict[str, list[Check]] = {"": [], one.teller: [], two.teller: []}
    for id_ in dict.fromkeys(check.id for check in (*one.checks, *two.checks)):
        mine, theirs = ([check for check in word.checks if check.id == id_] for word in (one, two))
        if _is_blind(theirs, general):
            found[one.teller] += mine
        elif _is_blind(mine, general):
            found[two.teller] += theirs
        else:
            found[""] += _both(Word(one.teller, mine), Word(two.teller, theirs), general)
    return [Word(teller, checks) for teller, checks in found.items()]


def _is_blind(checks: Sequence[Check], general: Collection[str] | None) -> bool:
    """Whether nobody could look, so that nothing is said against the other's word."""
    return all(check.result == UNKNOWN and (general is None or check.subject in general) for check in checks)


def _both(one: Word, two: Word, general: Collection[str] | None) -> list[Check]:
    """What both could look at. What one of them could not tell of a subject is unknown, too, where ``general`` says
    which subjects are none.
    """
    mine, theirs = ({check.subject for check in word.checks if check.result == FAIL} for word in (one, two))
    bad = [_alone(check, one, two) for check in one.checks if check.result == FAIL and check.subject not in theirs]
    bad += [_alone(check, two, one) for check in two.checks if check.result == FAIL and check.subject not in mine]
    if general is not None:
        lacking = [check for check in two.checks if check.result == UNKNOWN and check.subject not in {*mine, *general}]
        bad += [replace(check, cause=f"{two.teller}: {check.cause}") for check in lacking]
    subjects = {check.subject for check in bad} - {check.subject for check in one.checks if check.result == UNKNOWN}
    kept = [
        check
        for check in one.checks
        if check.subject not in subjects
        and not (bad and check.result == PASS and (general is None or check.subject in general))
    ]
    return [*kept, *{check.subject: check for check in bad if check.subject in subjects}.values()]


def _alone(check: Check, says: Word, denies: Word) -> Check:
    if check.subject.startswith(f"{says.teller} "):
        return check  # Of itself.
    near = [other for other in denies.checks if other.subject == check.subject] or list(denies.checks)
    word = next((other.observed for other in near if other.result == PASS), "") or "it is not so"
    return doubted(check, f"{says.teller} says so, {denies.teller} denies it: {word}")


class Denials:
    """What hosts say of their own ports against the word of one other host alone."""

    def __init__(self, inventory: Inventory) -> None:
        self._heard = inventory.heard
        self._rails: dict[str, list[Hca]] = {}
        for hca in inventory.rails:
            self._rails.setdefault(hca.host, []).append(hca)

    def held_by(self, alone: Iterable[str], words: Iterable[Word]) -> list[Check]:
        """The checks of all, what one alone tells held against those of whom it is. ``alone``: who asked a fabric
        that nobody else could ask.
        """
        found = [check for word in words for check in (self._held(word) if word.teller else word.checks)]
        for teller in alone:
            found = self._held(Word(teller, found))
        return found

    def _held(self, word: Word) -> list[Check]:
        found = [self._one(check, word.teller) for check in word.checks]
        doubt = next((new.cause for old, new in zip(word.checks, found, strict=True) if new is not old), "")
        # A leaf is called dead because of who is missing.
        return [
            doubted(check, doubt) if doubt and (check.id, check.result) == (check_hcas.LEAVES, FAIL) else check
            for check in found
        ]

    def _one(self, check: Check, teller: str) -> Check:
        if check.result != FAIL:
            return check
        host, _blank, subject = check.subject.partition(" ")
        if host == teller or host not in self._rails:
            return check
        mine = [hca for hca in self._rails[host] if hca.name == subject] or self._rails[host]
        why = self._why(teller, mine) if check.id == check_hcas.PRESENT else ""
        if check.id == check_rails.RAIL:
            why = f"{teller} says so, and no other host could look"
        return doubted(check, why) if why else check

    def _why(self, teller: str, hcas: Iterable[Hca]) -> str:
        for hca in hcas:
            if hca.state == _ACTIVE:
                return f"{teller} says so, {hca.host} denies it: its port {hca.name} is Active"
            others = sorted(set(self._heard.get((hca.host, hca.name), ())) - {teller})
            if others:
                return f"{teller} says so, {others[0]} denies it: pings with {hca.named} were answered"
        return ""
