# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of a text a parser used: those without which it would tell something else. No parser has to know it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Callable, Collection, Sequence

from .._data.pasted_words import HARMLESS, WORDS
from .._ground import literal
from .._ground.bound import Bound
from . import names, prefix

# A text is read as often as lines are left out of it: of a longer one each line is held against the parser alone.
LONGEST: Bound = 1 << 18
# Of one that is no log and no longer than this it is still known where it begins and ends.
SPANNED: Bound = 1 << 21
READINGS: Bound = 300
# Of a log longer than LONGEST so many lines of one wording are read by every tool.
ALIKE: Bound = 200
# Of lines with a word of failure one of each wording is asked of, and no more wordings than these.
WORDINGS: Bound = 100
# What tells of the reading; and complaints, which a parser keeps and few checks judge.
_READING = ("beginning_lost", "cut", "unread")
_COMPLAINTS = ("empty_output", "error", "error_lines")
# Lines that a log's head shows to be its own, and whose failures its parser looks for by itself.
OWN = {"dmesg": names.KERNEL, "nccl_log": re.compile(r"\bNCCL (?:INFO|WARN) ")}
# Texts that only ibready writes, and how each of their lines begins.
_OURS = {"container_probe": re.compile(r"\w{1,20}\t\w")}
_WORDS = {row: re.compile(row, re.IGNORECASE) for row in WORDS}
_LIKELY = literal.sieve(WORDS, str)
_HARMLESS = re.compile("|".join(HARMLESS), re.IGNORECASE)
_NUMBER = re.compile(r"[0-9a-fA-F]*\d[0-9a-fA-F]*")
_OPENS = re.compile(r"\{\s|\{\"|\[\s*[\[{\"]")


def fails(line: str) -> bool:
    """Whether a line has a word of failure, and does not say that there is none."""
    return any(_WORDS[row].search(line) for row in _LIKELY(line.casefold())) and _HARMLESS.search(line) is None


def shape(line: str) -> str:
    """The line's wording: without its numbers."""
    return _NUMBER.sub("#", " ".join(line.split()))


def thinned(lines: Sequence[str]) -> tuple[list[str], Counter[str]]:
    """Of a long log the first lines of each wording, all that tell of a failure, and NCCL's and the kernel's own.

    Beside them how many of each wording were left out.
    """
    seen: Counter[str] = Counter()
    out: Counter[str] = Counter()
    own: set[str] = set()
    may_fail: set[str] = set()
    kept = []
    for line in lines:
        wording = shape(line)
        seen[wording] += 1
        if seen[wording] == 1:
            own.update([wording] if any(head.search(line) for head in OWN.values()) else ())
            may_fail.update([wording] if _LIKELY(line.casefold()) else ())
        if seen[wording] <= ALIKE or wording in own or (wording in may_fail and fails(line)):
            kept.append(line)
        else:
            out[wording] += 1
    return kept, out


def of_ours(tool: str, lines: Sequence[str]) -> set[int]:
    """The numbers from 0 of the lines of a text that only ibready writes: none of them is another tool's."""
    return {at for at, line in enumerate(lines) if tool in _OURS and _OURS[tool].match(line)}


def span(tool: str, lines: Sequence[str]) -> range:
    """The numbers from 0 from the first line that the tool's parser used to the last, what stands between too."""
    whole, kept = _told(tool, lines, _READING), range(len(lines))

    def idle(some: Collection[int]) -> bool:
        nonlocal kept
        rest = range(max(some) + 1, kept.stop) if min(some) == 0 else range(kept.start, min(some))
        same: bool = _told(tool, [lines[at] for at in rest], _READING) == whole
        kept = rest if same else kept
        return same

    _ends(idle, len(lines))
    return kept


def used(tool: str, lines: Sequence[str], complaints: bool) -> set[int]:
    """The numbers from 0 of the lines that the tool's parser used, and of those that are worded like one of them.

    ``complaints``: whether those that the parser keeps are judged, and so are in use.
    """
    passed_over = _READING if complaints else (*_READING, *_COMPLAINTS)
    if sum(map(len, lines)) > LONGEST:
        return _of_long(tool, lines)
    whole, kept = _told(tool, lines, passed_over), set(range(len(lines)))
    readings = READINGS

    def idle(some: Collection[int]) -> bool:
        """Whether the tool tells the same without these lines, which are then left out."""
        nonlocal readings
        readings -= 1
        rest = kept.difference(some)
        same: bool = _told(tool, [lines[at] for at in sorted(rest)], passed_over) == whole
        kept.intersection_update(rest if same else kept)
        return same

    document = _is_document(lines)
    if not document:
        _ends(idle, len(lines))
    asked: set[str] = set()
    for at in sorted(kept):
        if fails(lines[at]) and shape(lines[at]) not in asked and len(asked) < WORDINGS:
            asked.add(shape(lines[at]))
            idle([at])
    known: set[str] = set()

    def leave_out(low: int, high: int) -> None:
        """Halves as long as the tool tells something else."""
        some = [at for at in range(low, high) if at in kept and shape(lines[at]) not in known]
        if not some or readings <= 0 or idle(some):
            return
        if high - low == 1:
            known.add(shape(lines[low]))
            return
        leave_out(low, (low + high) // 2)
        leave_out((low + high) // 2, high)

    if not document:
        leave_out(0, len(lines))
    shapes = {shape(lines[at]) for at in kept}
    own = OWN[tool].search if tool in OWN else None
    return {at for at, line in enumerate(lines) if at in kept or shape(line) in shapes or (own and own(line))}


def _of_long(tool: str, lines: Sequence[str]) -> set[int]:
    """All from the first in use to the last, but lines of failure that alone tell this tool nothing."""
    heard: dict[str, bool] = {}
    short = tool not in OWN and sum(map(len, lines)) <= SPANNED
    kept = set(span(tool, lines) if short else range(len(lines)))
    for at, line in enumerate(lines):
        if fails(line) and not (tool in OWN and OWN[tool].search(line)):
            wording = shape(line)
            if wording not in heard and len(heard) < WORDINGS:
                heard[wording] = bool(names.weight(tool, line))
            if not heard.get(wording, True):
                kept.discard(at)
    return kept


def _is_document(lines: Sequence[str]) -> bool:
    """Whether brackets of JSON are around all: what is in them is of the one tool that wrote it."""
    text = "".join(lines).strip()
    return _OPENS.match(text) is not None and text[-1] in "}]"


def _ends(idle: Callable[[Collection[int]], bool], count: int) -> None:
    """Leave out what stands before the first line in use and behind the last one: few readings, however many lines."""
    ends: tuple[Callable[[int], range], ...] = (range, lambda most: range(count - most, count))
    for some in ends:
        low, high = 0, count
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if idle(some(middle)) else (low, middle - 1)


def _told(tool: str, lines: Sequence[str], passed_over: Collection[str]) -> Any:
    told = []
    for part in prefix.parts(tool, "".join(lines)):
        read = names.read(tool, part.text)
        facts = {key: value for key, value in read.facts.items() if key not in passed_over}
        told.append((part.who, facts, read.wrong, read.times, read.error is None))
    return told
