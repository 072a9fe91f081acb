# SPDX-License-Identifier: GPL-3.0-or-later
"""Where NCCL makes something else of a value than it seems to mean."""

from __future__ import annotations

import re
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_reading as reading
from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_variables as kinds
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import (
    lint_select,
    registry,
    values,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import Line
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.lint_form import QUOTES
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import (
    ERROR,
    WARNING,
    Problem,
    short,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, shown

_INTEGERS = frozenset((kinds.INT, kinds.FLAG))
_LISTS = frozenset((kinds.HCAS, kinds.INTERFACES))
_TRAILING_COMMENT = re.compile(r"[ \t]+#.*", re.DOTALL)
_EXPANSION = re.compile(r"\$[A-Za-z_{(]|`")
# What to do where no better value is known.
_STEPS = {
    "address": "write it as HOST:PORT",
    "expansion": "write the whole path",
    "integer-tail": "write one whole number, without a unit",
    "list-for-integer": "write the one number that is meant",
    "level": "write one of the levels, in capitals",
    "network": "write it as 10.0.0.0/8",
    "out-of-range": "write a smaller number",
    "unusual-value": "look it up in NCCL's guide",
    "word": "write one of these words",
    "word-for-flag": "write 1 or 0",
    "word-for-integer": "write a number",
}


def problems(line: Line, version: Release | None) -> Iterator[Problem]:
    """What is wrong with the value of a line that sets the variable it names."""
    name, value = line.name or "", line.value or ""
    kind = registry.kind_at(name, version)
    if line.raw.endswith("\r"):
        value = value[:-1] if value.endswith("\r") else value
        yield from _carriage_return(line, name, kind, version)
    form = next(_form(line, name, value, kind, version), None)
    if form is not None:
        yield form
        return
    made = values.made(name, value, version)
    if made.differs:
        step = f"write {name}={short(made.meant)}" if made.meant else _STEPS[made.kind]
        severity = WARNING if made.harmless else ERROR
        found = f"the value {short(value)!r}"
        yield Problem(line.number, name, found, made.differs, step, severity, made.kind)
    if kind in _LISTS:
        yield from lint_select.problems(line.number, name, value, version)


def _carriage_return(
    line: Line, name: str, kind: str, version: Release | None
) -> Iterator[Problem]:
    since = reading.PIECES_SINCE
    if version is not None and version >= since:
        return
    number = kind in _INTEGERS
    stays = "stays behind the number, where it is ignored" if number else "is part of the value"
    makes = f"it {stays}" if version else f"before {shown(since)} it {stays}"
    severity = WARNING if number or version is None else ERROR
    found = "the line ends with a carriage return"
    step = "write the file with plain newlines"
    yield Problem(line.number, name, found, makes, step, severity, "crlf")


def _form(
    line: Line, name: str, value: str, kind: str, version: Release | None
) -> Iterator[Problem]:
    """What is wrong with the form of the value; the first is the one to tell."""

    def problem(found: str, makes: str, right: str, kind: str, harmless: bool = False) -> Problem:
        severity = WARNING if harmless else ERROR
        step = f"write {name}={short(right)}"
        return Problem(line.number, name, found, makes, step, severity, kind)

    bare = value.strip()
    plain = bare.strip(QUOTES)
    number = kind in _INTEGERS
    if not value:
        makes = "it is set and empty, which hides it in later files"
        if kind in _INTEGERS:
            makes += f"; the default holds, {registry.default_at(name, version)}"
        step = "take the line out"
        yield Problem(line.number, name, "no value", makes, step, WARNING, "empty-value")
    if bare and (bare[0] in QUOTES or bare[-1] in QUOTES):
        makes = f"quotes are part of the value{_effect(name, value, kind, version)}"
        yield problem("quotes around the value", makes, plain, "quotes")
    comment = _TRAILING_COMMENT.search(value)
    if comment:
        head = value[: comment.start()]
        right = number and not values.made(name, head, version).differs and bool(head)
        makes = f"all of it is the value{_effect(name, value, kind, version)}"
        if right:
            makes = "NCCL ignores what follows a number"
        yield problem("a comment behind the value", makes, head, "trailing-comment", right)
    if value[:1].isspace():
        makes = "NCCL skips it before a number" if number else "it is part of the value"
        yield problem("a blank behind the =", makes, bare, "blank-around-equals", number)
    if value[-1:].isspace() and not _blank_by_default(name):
        makes = "NCCL ignores it behind a number" if number else "it is part of the value"
        yield problem("a blank at the end", makes, bare, "trailing-blank", number)
    if value.endswith("\\"):
        makes = "a \\ does not continue the line, it is part of the value"
        yield problem("a \\ at the end", makes, bare.rstrip("\\").rstrip(), "continuation")
    if _EXPANSION.search(value):
        makes = "NCCL expands nothing: the value is these very characters"
        step = "write what it stands for"
        found = f"the value {short(value)!r}"
        yield Problem(line.number, name, found, makes, step, ERROR, "expansion")


def _effect(name: str, value: str, kind: str, version: Release | None) -> str:
    """What comes of it, as the end of a sentence."""
    if kind in _INTEGERS:
        number = values.number(value).value
        return f": NCCL reads {values.means(name, number)}" if number is not None else ""
    if kind in _LISTS:
        return ": no device is called so"
    differs = values.made(name, value, version).differs
    return f": {differs}" if differs else ""


def _blank_by_default(name: str) -> bool:
    """Whether the variable's own default ends with a blank."""
    found = kinds.VARIABLES.get(name)
    return found is not None and found.default.endswith(" ")
