# SPDX-License-Identifier: GPL-3.0-or-later
"""Read nccl.conf as the library of a given release reads it: byte for byte, with nothing put right.

Texts are as a file's bytes decode with ``surrogateescape``, and must not have gone through Python's
translation of line ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable, Iterator, Mapping

from .._data import nccl_reading as reading
from .release import Release

ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Line:
    """What NCCL reads as one line. From 2.30 a very long line of the file is several of these.

    ``number``: the line of the file, from 1. ``raw``: its text without the newline.
    ``name``, ``value``: what NCCL sets in the environment, None where it sets nothing; ``why`` says
    why then. ``first``: the number of an earlier line that set the same name, and so hides this
    one; 0 for none. ``undefined``: reading the line spoils the library's memory.
    """

    number: int
    raw: str
    name: str | None = None
    value: str | None = None
    why: str = ""
    first: int = 0
    undefined: bool = False


@dataclass(frozen=True)
class Place:
    """Where a value stands: ENVIRONMENT or a path, and the line (0 for the environment)."""

    source: str
    line: int
    value: str


@dataclass(frozen=True)
class Taken:
    """The value that holds, where it is from, and the places that it hides."""

    name: str
    value: str
    place: Place
    hides: tuple[Place, ...] = ()


def as_bytes(text: str) -> bytes:
    """The bytes of a file of which this is the text; never raises."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """The text of a file's bytes; every byte comes back by `as_bytes`."""
    return data.decode("utf-8", "surrogateescape")


def parse(text: str, release: Release) -> tuple[Line, ...]:
    """Every line of the file with what this release makes of it."""
    found: list[Line] = []
    seen: dict[str, int] = {}
    for number, data in _pieces(as_bytes(text), release):
        line = _line(number, data, release)
        if line.name in seen:
            line = replace(line, first=seen[line.name])
        elif line.name is not None:
            seen[line.name] = number
        found.append(line)
    return tuple(found)


def settings(text: str, release: Release) -> dict[str, str]:
    """What one file sets, where nothing was set before: name to value, in order."""
    return {
        line.name: line.value
        for line in parse(text, release)
        if line.name is not None and line.value is not None and not line.first
    }


def paths(environment: Mapping[str, str], home: str, release: Release) -> tuple[str, ...]:
    """The files that a process with this environment reads, in order.

    ``home``: the home directory by the password file, "" for none. A file that is not there or
    cannot be read is passed over by NCCL, and the next one is not read in its stead.
    """
    named = environment.get(reading.FILE_VARIABLE, "")
    if release >= reading.PIECES_SINCE:
        home = environment.get("HOME", "")
    if named and release >= reading.FILE_VARIABLE_SINCE:
        return (named, reading.SYSTEM_FILE)
    own = (f"{home}/{reading.USER_FILE}",) if home else ()
    return (*own, reading.SYSTEM_FILE)


def effective(environment: Mapping[str, str], files: Iterable[tuple[str, str]], release: Release) -> dict[str, Taken]:
    """What holds in a process: name to value, its place and the places that it hides.

    ``files``: path and text of what `paths` names, in that order; leave out what cannot be read.
    An empty variable of the environment hides the files too. Of the environment's variables only
    NCCL's own and those that a file sets too are in the answer.
    """
    places: dict[str, list[Place]] = {name: [Place(ENVIRONMENT, 0, value)] for name, value in environment.items()}
    wanted = {name for name in environment if name.startswith("NCCL_")}
    for path, text in files:
        for line in parse(text, release):
            if line.name is not None and line.value is not None:
                wanted.add(line.name)
                places.setdefault(line.name, []).append(Place(path, line.number, line.value))
    return {
        name: Taken(name, found[0].value, found[0], tuple(found[1:]))
        for name, found in places.items()
        if name in wanted
    }


def _pieces(data: bytes, release: Release) -> Iterator[tuple[int, bytes]]:
    """The number of the file's line, and what is read at once, without the newline."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if release < reading.PIECES_SINCE or len(line) < reading.PIECE:
            yield number, line
            continue
        ended = number < len(lines) or data.endswith(b"\n")
        whole = line + (b"\n" if ended else b"")
        for start in range(0, len(whole), reading.PIECE):
            piece = whole[start : start + reading.PIECE]
            yield number, piece[:-1] if piece.endswith(b"\n") else piece


def _line(number: int, data: bytes, release: Release) -> Line:
    raw = as_text(data)
    # The library's strings end at a zero byte.
    read = data.split(b"\0")[0]
    if release >= reading.PIECES_SINCE and read.endswith(b"\r"):
        read = read[:-1]
    if release >= reading.COMMENTS_SINCE and read.startswith(b"#"):
        return Line(number, raw, why="a comment")
    name, equals, value = read.partition(b"=")
    if not equals:
        return Line(number, raw, why="it has no =" if read.strip() else "it is empty")
    if not name:
        return Line(number, raw, why="there is no name before the =")
    if len(name) > reading.LONGEST and release < reading.NAME_CUT_SINCE:
        return Line(number, raw, why="the name is written beyond its room", undefined=True)
    if len(value) > reading.LONGEST and release < reading.VALUE_CUT_SINCE:
        return Line(number, raw, why="the value has no end in memory", undefined=True)
    cut = reading.LONGEST
    return Line(number, raw, as_text(name[:cut]), as_text(value[:cut]))
