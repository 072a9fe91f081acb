# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong by its cause, and the fewest actions that would mend most; no I/O.

A place is whatever was judged: a host, or ``fabric NAME``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....module_utils._ground.check import FAIL, LOOK_AGAIN, Check, from_dict, trouble
from ....module_utils._verify.fold import FIRST, roots

Said = Mapping[str, Any]
# Needs that are tried as the next to be met, those of most places; and how often one is chosen so.
_TRIED, _CHOSEN = 64, 32


@dataclass
class Cause:
    """``checks``: its ids. ``found``: what it did, by place. ``error``: it keeps from ready."""

    result: str
    cause: str
    remedy: str
    error: bool = False
    checks: dict[str, None] = field(default_factory=dict)
    found: dict[str, list[Check]] = field(default_factory=dict)


@dataclass(frozen=True)
class Action:
    """``remedy``, of ``why`` where that alone says what to do.

    ``touches``: places where something is to be mended by it, ``findings`` in all. ``readies``: the
    places of which nothing is left to be mended after this action and those before it. ``looks``:
    part of it only looks at what could not be looked at, and may find more.
    """

    remedy: str
    why: str
    touches: tuple[str, ...]
    findings: int
    readies: tuple[str, ...]
    looks: bool

    @property
    def gain(self) -> int:
        """How many more places are ready."""
        return len(self.readies)


def together(check: Check) -> tuple[str, ...]:
    """Findings of one cause have the same: unknowns of all checks, of a failure those of its own.

    What keeps a host from being looked at makes a hundred checks unknown, and is one cause. Of
    failures of one thing see _root.
    """
    own = (check.id,) if check.result == FAIL else ()
    return (check.result, check.cause, check.remedy, *own)


def causes(judged: Mapping[str, Said]) -> list[Cause]:
    """Errors before warnings, failures before unknowns, then what stands on most places first.

    A finding that says which other is to be mended first has the cause of that, and so has one
    that gives the same reason for the same thing.
    """
    found: dict[tuple[str, ...], Cause] = {}
    everything = _wrong(judged)
    for place, wrong in everything.items():
        for check, first in zip(wrong, roots(wrong), strict=True):
            root = _root(wrong[first], wrong, everything)
            key = (root.severity if root.result == FAIL else "", *together(root))
            mine = found.setdefault(key, Cause(root.result, root.cause, root.remedy, checks={root.id: None}))
            mine.error = mine.error or check.severity == "error"
            mine.checks[check.id] = None
            mine.found.setdefault(place, []).append(check)
    return sorted(found.values(), key=lambda item: (not item.error, item.result != FAIL, -len(item.found)))


def actions(judged: Mapping[str, Said]) -> list[Action]:
    """In which order remedies make the most places ready the soonest, until all are.

    A place is ready when all its findings are mended, warnings too, so what it needs is a set of
    actions, and no action may be worth anything alone. A finding that says which other is to be
    mended first goes with that. Greedy: of the sets that places need, less
    what is done already, the one is next that makes the most places ready for each of its actions
    (then: that makes more ready, that is smaller, that comes first in the run); its actions follow
    each other by how many places they touch. Not tried are needs beyond the _TRIED most common, and
    after _CHOSEN sets all that is left goes by places touched. That is no proof of the smallest
    order, which nobody can compute for a fleet, but each action counts what it truly completes:
    every place is in ``readies`` of one action, the last of those that it needs.
    """
    known: dict[tuple[str, str], int] = {}
    touched: dict[int, dict[str, None]] = {}
    counted: Counter[int] = Counter()
    looks: set[int] = set()
    needs: dict[str, int] = {}
    everything = _wrong(judged)
    for place, wrong in everything.items():
        for check, first in zip(wrong, roots(wrong), strict=True):
            action = known.setdefault(_action(_root(wrong[first], wrong, everything)), len(known))
            touched.setdefault(action, {})[place] = None
            counted[action] += 1
            if check.result != FAIL:
                looks.add(action)
            needs[place] = needs.get(place, 0) | 1 << action
    names = list(known)
    found: list[Action] = []
    done = 0
    for action in _order(Counter(needs.values()), {entry: len(on) for entry, on in touched.items()}):
        done |= 1 << action
        readies = tuple(entry for entry, need in needs.items() if not need & ~done)
        needs = {entry: need for entry, need in needs.items() if need & ~done}
        remedy, why = names[action]
        on = tuple(touched[action])
        found.append(Action(remedy, why, on, counted[action], readies, action in looks))
    return found


def _wrong(judged: Mapping[str, Said]) -> dict[str, list[Check]]:
    """Places of which something is wrong. What passed is not turned into checks: it is most."""
    bad = {
        place: [check for check in said["checks"] if check["result"] in ("fail", "unknown")]
        for place, said in judged.items()
    }
    found = {place: trouble(map(from_dict, some)) for place, some in bad.items() if some}
    return {place: some for place, some in found.items() if some}


def _root(check: Check, wrong: Sequence[Check], everything: Mapping[str, Sequence[Check]]) -> Check:
    """What is to be mended first, where that is wrong on this place too; of the same subject.

    A fabric says of which host's port it speaks: what is to be mended first may be there.
    """
    before: list[Check] = []
    while True:
        before.append(check)
        named = FIRST.fullmatch(check.remedy)
        ids = named[1].split(" or ") if named else []
        firsts = [entry for entry in wrong if entry.id in ids and entry not in before]
        host, _, subject = check.subject.partition(" ")
        if ids and not firsts and subject:
            there = everything.get(host, ())
            firsts = [entry for entry in there if entry.id in ids and entry.subject == subject]
            wrong = there if firsts else wrong
        if firsts:
            check = next((first for first in firsts if first.subject == check.subject), firsts[0])
            continue
        twin = _twin(check, wrong)
        if twin in before:
            return check
        check = twin


def _twin(check: Check, wrong: Sequence[Check]) -> Check:
    """The first failure of the same thing for the same reason; it may be of another check."""
    if check.result != FAIL or not check.cause:
        return check
    mine = (FAIL, check.severity, check.subject, check.cause)
    same = (entry for entry in wrong if (entry.result, entry.severity, entry.subject, entry.cause) == mine)
    return next(same, check)


def _action(check: Check) -> tuple[str, str]:
    """Its remedy; of one that does not say what to do, with the cause that does."""
    return (check.remedy, check.cause if check.remedy in ("", LOOK_AGAIN) else "")


def _order(needs: Counter[int], touches: Mapping[int, int]) -> Iterable[int]:
    """All actions of the needs (bits), as actions() says."""
    left = sorted(touches, key=lambda touch: -touches[touch])
    for _ in range(_CHOSEN):
        if not needs:
            break
        best = _best(needs)
        yield from (rest for rest in left if best >> rest & 1)
        left = [rest for rest in left if not best >> rest & 1]
        rest: Counter[int] = Counter()
        for need, count in needs.items():
            if need & ~best:
                rest[need & ~best] += count
        needs = rest
    yield from left


def _best(needs: Counter[int]) -> int:
    tried = [need for need, _count in needs.most_common(_TRIED)]
    return max(tried, key=lambda need: _worth(need, needs))


def _worth(need: int, needs: Counter[int]) -> tuple[float, int, int]:
    ready = sum(count for entry, count in needs.items() if not entry & ~need)
    return (ready / need.bit_count(), ready, -need.bit_count())
