# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the form of a line, whatever variable it sets."""

from __future__ import annotations

import unicodedata
from typing import Iterator, Sequence

from .._data import nccl_reading as reading
from .conf import Line, as_bytes
from .problem import ERROR, WARNING, Problem, short
from .release import Release, shown

QUOTES = "\"'"
# What C takes for a blank, without the newline.
BLANKS = " \t\r\v\f"
_COMMANDS = frozenset(("export", "setenv", "set", "declare", "env", "-x"))
_MARK = "\ufeff"
_UNSEEN = ("Cf", "Zl", "Zp", "Zs")
# After one of these the line sets something else than was meant, or nothing.
_SPOILT = frozenset(
    (
        "blank-around-equals",
        "blank-in-name",
        "byte-order-mark",
        "comment",
        "export",
        "no-equals",
        "no-name",
        "quotes",
        "spoilt-memory",
        "zero-byte",
    )
)


def strange(text: str) -> str:
    """The first character that looks like a blank, or like nothing, and is none to C; "" for none."""
    return next((char for char in text if ord(char) > 127 and unicodedata.category(char) in _UNSEEN), "")


def plain(text: str) -> str:
    """The text as it was probably meant: without such characters, and without blanks around it."""
    return "".join(char for char in text if not strange(char)).strip(BLANKS)


def is_setting(line: Line, found: Sequence[Problem]) -> bool:
    """Whether the line sets the variable that it names; ``found``: its `problems`."""
    comment = line.raw.lstrip(BLANKS).startswith("#")
    return line.name is not None and not comment and not any(problem.kind in _SPOILT for problem in found)


def problems(line: Line, version: Release | None) -> Iterator[Problem]:
    """The first thing wrong with the form of the line, if there is any."""
    raw = line.raw
    marked = raw.startswith(_MARK) and line.number == 1
    bare = raw.strip(BLANKS)
    name = _meant(raw)
    if line.undefined:
        makes, step = f"{line.why}: the job may crash", f"stay below {reading.SAFE_LINE} bytes"
        yield Problem(line.number, name, "the line is too long", makes, step, ERROR, "spoilt-memory")
    elif "\0" in raw:
        step = "write the file again as plain text"
        makes = "NCCL reads the line up to there"
        yield Problem(line.number, name, "it has a zero byte", makes, step, ERROR, "zero-byte")
    elif marked:
        yield _byte_order_mark(line)
    elif bare.startswith("#"):
        yield from _comment(line, version)
    elif bare and "=" not in raw:
        makes, step = "NCCL ignores the line", "write NAME=value, or a # in front of it"
        yield Problem(line.number, "", f"{short(bare)!r} has no =", makes, step, ERROR, "no-equals")
    elif bare and raw.startswith("="):
        makes, step = "NCCL ignores the line", "write NAME=value"
        yield Problem(line.number, "", "no name before the =", makes, step, ERROR, "no-name")
    elif bare:
        yield from _name(line)


def _meant(raw: str) -> str:
    """The name that was probably meant."""
    words = raw.partition("=")[0].strip(BLANKS + _MARK).split()
    return words[-1].strip(QUOTES) if words else ""


def _written(raw: str) -> str:
    """The line as it was probably meant."""
    value = plain(raw.partition("=")[2])
    if len(value) > 1 and value[0] in QUOTES and value[0] == value[-1]:
        value = value[1:-1]
    return f"write {short(_meant(raw))}={short(value)}"


def _byte_order_mark(line: Line) -> Problem:
    rest = line.raw[len(_MARK) :]
    harmless = not rest.strip(BLANKS) or ("=" not in rest and rest.startswith("#"))
    makes = "NCCL ignores the line" if harmless else "the mark is part of the name: nothing is set"
    found = "the file starts with a byte order mark"
    step = "write the file again without the mark"
    severity = WARNING if harmless else ERROR
    return Problem(line.number, _meant(line.raw), found, makes, step, severity, "byte-order-mark")


def _comment(line: Line, version: Release | None) -> Iterator[Problem]:
    indented = not line.raw.startswith("#")
    early = version is None or version < reading.COMMENTS_SINCE
    if "=" not in line.raw or not (indented or early):
        return
    name = line.raw.partition("=")[0]
    since = "" if indented or version else f" before {shown(reading.COMMENTS_SINCE)}"
    makes = f"NCCL{since} sets a variable called {short(name)!r}, which does no harm"
    found = "a comment behind blanks" if indented else "a comment with a = in it"
    step = "start the comment at the left" if indented else "take the = out of it, or leave it"
    yield Problem(line.number, "", found, makes, step, WARNING, "comment")


def _name(line: Line) -> Iterator[Problem]:
    before, _mark, value = line.raw.partition("=")
    name, words = _meant(line.raw), before.split()
    makes = f"NCCL sets a variable called {short(before)!r}, which nothing reads"
    step = _written(line.raw)
    if len(words) > 1 and words[0] in _COMMANDS:
        yield Problem(line.number, name, f"{words[0]} in front of the name", makes, step, ERROR, "export")
    elif before != before.strip():
        yield Problem(line.number, name, "a blank beside the name", makes, step, ERROR, "blank-around-equals")
    elif len(words) > 1:
        yield Problem(line.number, name, "a blank in the name", makes, step, ERROR, "blank-in-name")
    elif any(quote in before for quote in QUOTES):
        yield Problem(line.number, name, "a quote in the name", makes, step, ERROR, "quotes")
    elif len(as_bytes(before)) > reading.LONGEST:
        makes = f"NCCL cuts it there: no variable is called {short(before)!r}"
        found = f"the name has more than {reading.LONGEST} bytes"
        yield Problem(line.number, name, found, makes, "shorten it", ERROR, "too-long-name")
    elif len(as_bytes(value)) > reading.LONGEST:
        makes, step = "NCCL cuts it there without a word", "shorten it"
        found = f"the value has more than {reading.LONGEST} bytes"
        yield Problem(line.number, name, found, makes, step, ERROR, "too-long-value")
