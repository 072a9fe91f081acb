# SPDX-License-Identifier: GPL-3.0-or-later
"""One cause, one line: what follows from a finding, or could not be looked at for its reason, stands behind it.

For people alone. Verdicts, JSON, JUnit and the run object have every check.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Sequence

from .._data.hides import ROWS, Hides
from .._evidence.sources import COMMANDS
from .._ground.check import FAIL, UNKNOWN, Check, sentence
from .._ground.text import few

# What checks say of a finding that goes with another one.
FIRST = re.compile(r"fix ([a-z0-9_.]+(?: or [a-z0-9_.]+)*) first")
# The same where a check tells the first of several things.
_FIRST_OF_MORE = re.compile(rf": {FIRST.pattern} \(and \d+ more like it\)\Z")
# What one thing of several is called: addresses of the PCI bus and of networks, GUIDs, HCAs, GPUs, interfaces.
_NAMES = re.compile(
    r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?\b|\b[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}){3,7}\b"
    r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)|\b0x[0-9a-f]{16}\b|\bGPU \d{1,2}\b"
    r"|\b[a-z]{2}[a-z_]*\d[a-z0-9_]*(?:[./]\d{1,4})?\b"
)
_COUNT = re.compile(r"\d+")
# Areas whose checks are of one host's own things: what another switch or host is called is the finding itself.
_OWN = ("ib.", "roce.", "pci.", "gpu.", "nvlink.")
_WORD = re.compile(r"[a-z][a-z0-9_-]*")
# A program that showed something else has answered, and is no reason that other checks share.
_ANSWERED = re.compile(
    r"(?: status| show| -\S+)* (?:shows?|showed|lists?|listed|says|said|told|tells|did not (?:tell|say))\b(?! that it)"
)
_PROGRAMS = frozenset(command.argv[0] for command in COMMANDS.values())
# A PCI address, an HCA or port, a GPU: names of one thing of several have a number.
_DEVICE = re.compile(r"\d")
# Ids and subjects that a line names.
_SHOWN = 4


@dataclass
class Line:
    """``check``: what people are told. ``alike``: the same of other things. ``behind``: what is
    hidden by it."""

    check: Check
    alike: list[Check] = field(default_factory=list)
    behind: list[Check] = field(default_factory=list)

    @property
    def subject(self) -> str:
        """Of what it is told."""
        return few([self.check.subject, *(entry.subject for entry in self.alike)], _SHOWN)

    @property
    def hidden(self) -> str:
        """What stands behind it, in words; "" where nothing does."""
        wrong = [entry for entry in self.behind if entry.result == FAIL]
        blind = [entry for entry in self.behind if entry.result != FAIL]
        said = [_named(wrong)] if wrong else []
        if blind:
            program = program_of(blind[0]) or program_of(self.check)
            need = f"need{'s' if len(blind) == 1 else ''} {program} and " if program else ""
            checks = "1 check" if len(blind) == 1 else f"{len(blind)} checks"
            said.append(f"{checks} that {need}could not look: {_named(blind)}")
        return ", and ".join(said)


def told(line: Line) -> str:
    """The line as one sentence."""
    text = sentence(line.check)
    if line.alike:
        text = text.replace(f"{line.check.id} {line.check.subject}:", f"{line.check.id} {line.subject}:", 1)
    return f"{text}; this affects {line.hidden}" if line.hidden else text


def folded(bad: Sequence[Check]) -> list[Line]:
    """What is wrong with one host (``trouble``), the worst first, each cause once."""
    top = roots(bad)
    lines: dict[int, Line] = {}
    same: dict[tuple[str, ...], int] = {}
    at: dict[int, int] = {}
    for number, check in enumerate(bad):
        head = top[number]
        key = _alike(bad[head])
        place = at.setdefault(head, same.setdefault(key, head))
        line = lines.setdefault(place, Line(bad[place]))
        if number == head and head != place:
            line.alike.append(check)
        elif number != place:
            line.behind.append(check)
    return list(lines.values())


def roots(bad: Sequence[Check]) -> list[int]:
    """For each check the number of the one behind which it stands: its own where it stands for itself."""
    above = _Above(bad)
    up = [above.of(number) for number in range(len(bad))]
    found = []
    for number in range(len(bad)):
        seen = [number]
        while up[seen[-1]] not in seen:
            seen.append(up[seen[-1]])
        # In a circle the first of it stands for all.
        last = up[seen[-1]]
        found.append(last if last == seen[-1] else min(seen[seen.index(last) :]))
    return found


def program_of(check: Check) -> str:
    """The program that an unknown check names as what told nothing; "" for none."""
    for match in _WORD.finditer(check.cause) if check.result == UNKNOWN else ():
        program = COMMANDS[match[0]].argv[0] if match[0] in COMMANDS else match[0]
        if program in _PROGRAMS:
            return "" if _ANSWERED.match(check.cause, match.end()) else program
    return ""


class _Above:
    """Behind which other check each of a host's stands, at once."""

    def __init__(self, bad: Sequence[Check]) -> None:
        self._bad = bad
        self._by_id: dict[str, list[int]] = {}
        for number, check in enumerate(bad):
            self._by_id.setdefault(check.id, []).append(number)
        # By row of the table: its roots; and the first row of which a check is one.
        self._roots = [[number for number, check in enumerate(bad) if _is_root(row, check)] for row in ROWS]
        self._rank: dict[int, int] = {}
        for at, mine in enumerate(self._roots):
            for number in mine:
                self._rank.setdefault(number, at)
        self._first: dict[str, int] = {}
        # The check of a program itself speaks for those that need it.
        for number, check in enumerate(bad):
            if check.subject in _PROGRAMS:
                self._first.setdefault(check.subject, number)
        for number, check in enumerate(bad):
            for key in _reasons(check):
                self._first.setdefault(key, number)

    def of(self, number: int) -> int:
        """The number of that other check; its own where there is none."""
        check = self._bad[number]
        before = self._before(number)
        if before is not None:
            return before
        rank = self._rank.get(number, len(ROWS))
        for at, row in enumerate(ROWS[: rank + 1]):
            for root in self._roots[at]:
                # Of roots of one row the first speaks for the others.
                if (at < rank or root < number) and _follows(row, self._bad[root], check):
                    return root
        return next((self._first[key] for key in _reasons(check)), number)

    def _before(self, number: int) -> int | None:
        """What the check says is to be mended first, where that is wrong; of the same thing if it can be."""
        check = self._bad[number]
        named = FIRST.fullmatch(check.remedy) or FIRST.fullmatch(check.cause) or _FIRST_OF_MORE.search(check.cause)
        ids = named.group(1).split(" or ") if named else ()
        firsts = [at for name in ids for at in self._by_id.get(name, ()) if at != number]
        return next((at for at in firsts if self._bad[at].subject == check.subject), firsts[0] if firsts else None)


def _reasons(check: Check) -> tuple[str, ...]:
    """By what unknown checks go together: the program that told nothing, else the reason itself."""
    if check.result != UNKNOWN or not check.cause:
        return ()
    return (program_of(check) or f"{check.cause} | {check.remedy} | {check.subject}",)


def _is_root(row: Hides, check: Check) -> bool:
    return check.result == FAIL and _any(row.roots, check)


def _follows(row: Hides, root: Check, check: Check) -> bool:
    if (row.same and root.subject != check.subject) or check.id == root.id:
        return False
    # The worse of two is what people have to see.
    if check.severity == "error" != root.severity:
        return False
    if check.result == FAIL:
        return _any(row.fails, check) and _of_one_thing(root, check)
    # A program that did not answer is a cause of its own, unless it is the one that the root stops.
    program = program_of(check)
    return program == row.program if program else _any(row.blind, check) and _of_one_thing(root, check)


def _of_one_thing(root: Check, check: Check) -> bool:
    """Whether it is found of the root's thing, or of a pair with it; or either is of the host as a whole."""
    ends = {root.subject, root.subject.replace(" ", "")}
    both = {check.subject, *check.subject.replace(" ", "").split("-")}
    return bool(ends & both) or not (_is_device(root.subject) and _is_device(check.subject))


def _is_device(subject: str) -> bool:
    return _DEVICE.search(subject) is not None


def _any(signs: Sequence[str], check: Check) -> bool:
    for sign in signs:
        glob, _mark, said = sign.partition("~")
        if fnmatchcase(check.id, glob) and (not said or _said(said).search(f"{check.observed} | {check.cause}")):
            return True
    return False


@functools.lru_cache(maxsize=None)
def _said(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _alike(check: Check) -> tuple[str, ...]:
    """All that is told of it but its subject, and what its own thing and its neighbours are called."""
    if not check.id.startswith(_OWN):
        return (check.id, check.result, check.observed, check.expected, check.cause, check.remedy, check.waived)
    observed, expected = (_NAMES.sub("*", text) for text in (check.observed, check.expected))
    # A cause counts and names; what is measured is in the others.
    cause, remedy = (_COUNT.sub("*", _NAMES.sub("*", text)) for text in (check.cause, check.remedy))
    return (check.id, check.result, observed, expected, cause, remedy, check.waived)


def _named(checks: Sequence[Check]) -> str:
    counts = Counter(check.id for check in checks)
    return few([f"{name} ({count})" if count > 1 else name for name, count in counts.items()], _SHOWN)
