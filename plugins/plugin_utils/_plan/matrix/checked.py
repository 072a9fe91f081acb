# SPDX-License-Identifier: GPL-3.0-or-later
"""How old the facts of a plan are: when each file of the matrix was last compared with what is public; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path

from .model import Fact, Matrix, MatrixError

SECTION = "checked.subjects"
OWN_FILE = SECTION.partition(".")[0]


def refuse(matrix: Matrix, said_in: Mapping[str, Path]) -> None:
    """Raises MatrixError where a file has no day, a day is none, or is of a file that is not there.

    ``said_in``: the file of each entry.
    """
    files = {section.partition(".")[0] for section in matrix.sections} - {OWN_FILE}
    subjects = matrix.all(SECTION)
    for name in sorted(files - set(subjects)):
        raise MatrixError(
            f"matrix {SECTION}.{name} is missing: every file says when it was last checked, and with what"
        )
    for name, fact in subjects.items():
        where = f"{said_in[name]}: subjects.{name}"
        if name not in files and name not in matrix.sections:
            raise MatrixError(f"{where}: no file or section of the matrix is called so")
        try:
            date.fromisoformat(fact.get("day"))
        except ValueError:
            raise MatrixError(f"{where}: day {fact.get('day')!r} is no day such as 2026-11-29") from None


def of(section: str, matrix: Matrix) -> Fact:
    """What is said of a section: by itself, or with its file."""
    subjects = matrix.all(SECTION)
    return subjects.get(section) or subjects[section.partition(".")[0]]


def oldest(matrix: Matrix, parts: Collection[str]) -> str:
    """In words, the oldest day on which facts were checked that a plan of these parts rests on."""
    facts = {fact.name: fact for section in matrix.sections if section != SECTION for fact in [of(section, matrix)]}
    days = {
        name: str(fact.get("day"))
        for name, fact in facts.items()
        if fact.get("parts") is None or set(fact.get("parts")) & set(parts)
    }
    day = min(days.values())
    named = ", ".join(sorted(name for name in days if days[name] == day))
    return f"The facts that this rests on were last checked on {day} or later (on that day: {named})."
