# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever in an nccl.conf does not do what it seems to do, line by line."""

from __future__ import annotations

from typing import AbstractSet, Iterator

from .._data import nccl_reading as reading, nccl_values as values
from . import lint_form, lint_value, registry
from .conf import Line, parse
from .problem import ERROR, WARNING, Problem, short
from .release import NEWEST, Release

# To look for the right name costs time; a file with more wrong ones is no nccl.conf.
_MOST_GUESSES = 50


def problems(text: str, version: Release | None, known_names: AbstractSet[str] | None = None) -> list[Problem]:
    """What is wrong with a file's text, in the order of its lines.

    ``version``: the release that is to read it; None judges for every release that is known.
    ``known_names``: the names that the installed library holds; None where none could be read,
    then the registry alone decides. The text is as conf.py wants it.
    """
    found: list[Problem] = []
    held: dict[str, Line] = {}
    guesses = _MOST_GUESSES
    number = 0
    for line in parse(text, version or NEWEST):
        earlier = held.get(line.name or "")
        held.setdefault(line.name or "", line)
        if line.number == number:
            found += _rest(line, found)
            continue
        number = line.number
        form = list(lint_form.problems(line, version))
        found += form
        if line.name is None or not lint_form.is_setting(line, form):
            continue
        stand = list(_name(line, line.name, version, known_names, guesses > 0))
        guesses -= len(stand)
        found += [*stand, *_twice(line, earlier), *_place(line, line.name)]
        if not form and not any(problem.severity == ERROR for problem in stand):
            found += lint_value.problems(line, version)
    return found


def _rest(line: Line, before: list[Problem]) -> Iterator[Problem]:
    """What follows the first piece of a line that is too long."""
    if before and before[-1].kind == "too-long-line" and before[-1].line == line.number:
        return
    yield Problem(
        line.number,
        "",
        f"the line has more than {reading.PIECE} bytes",
        f"what follows is read as a line of its own, {short(line.raw)!r}",
        "break it into lines of their own, or shorten it",
        ERROR,
        "too-long-line",
    )


_FOUND = {
    registry.NEVER: "NCCL has no such variable",
    registry.GONE: "NCCL no longer has this variable",
    registry.NEW: "this release does not have the variable yet",
    registry.ABSENT: "this library does not have the variable",
    registry.ELSEWHERE: "it is no variable of NCCL itself",
    registry.FOREIGN: "it is no variable of NCCL",
    registry.UNKNOWN: "NCCL does not have the variable",
}


def _name(
    line: Line, name: str, version: Release | None, known: AbstractSet[str] | None, guess: bool
) -> Iterator[Problem]:
    stand = registry.standing(name, version, known, guess)
    if stand.kind != registry.READ:
        severity = ERROR if stand.certain else WARNING
        makes, step = stand.says, stand.instead or "see that the plugin or program is there"
        yield Problem(line.number, name, _FOUND[stand.kind], makes, step, severity, stand.kind)


def _twice(line: Line, earlier: Line | None) -> Iterator[Problem]:
    if earlier is None or not line.first:
        return
    same = earlier.value == line.value
    yield Problem(
        line.number,
        line.name or "",
        f"line {earlier.number} sets it already",
        f"the first line holds, {short(earlier.value or '')!r}",
        "take this line out" if same else "keep the one that is meant",
        WARNING if same else ERROR,
        "duplicate",
    )


def _place(line: Line, name: str) -> Iterator[Problem]:
    if name == reading.FILE_VARIABLE:
        found, makes = "it stands in a file", "NCCL looks at it before it reads any file"
        yield Problem(line.number, name, found, makes, "set it in the job's environment", ERROR, "conf-file-in-file")
    if name in values.OF_ONE_JOB:
        found, makes = "it belongs to one job", "all jobs that read this file get the same value"
        yield Problem(line.number, name, found, makes, "set it in the job's environment", WARNING, "of-one-job")
