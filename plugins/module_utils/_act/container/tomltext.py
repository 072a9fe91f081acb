# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tables and keys of a TOML text, and where they stand; values are left as they are.

Nodes have no library for it (Python 3.8). This reads enough to change one key; what the file then
means is for the engine to say, which is asked before the file is used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Tuple

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# The two long ones may end in up to two quotes more, which belong to them.
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{1,2}(?!"))?', re.DOTALL),
    re.compile(r"'''.*?'''(?:'{1,2}(?!'))?", re.DOTALL),
    re.compile(r'"(?!"")(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'(?!'')[^'\n]*'"),
)
_PLAIN = re.compile(r"[^\s,#\[\]{}\"'=]+(?: [0-9:.+Zz-]+)?")
_DEPTH = 50

Path = Tuple[str, ...]


class TomlError(ValueError):
    """Text that this does not understand; the message begins with its line."""

    def __init__(self, text: str, at: int, wrong: str) -> None:
        line = text.count("\n", 0, at) + 1
        super().__init__(f"line {line}: {wrong}")


@dataclass(frozen=True)
class Header:
    """``[a.b]`` or ``[[a.b]]`` (``many``). ``end``: behind its line."""

    path: Path
    start: int
    end: int
    many: bool


@dataclass(frozen=True)
class Pair:
    """``key = value``, with the path of its table before its own; the value's place."""

    path: Path
    start: int
    value: int
    value_end: int
    end: int


@dataclass(frozen=True)
class Toml:
    """What a text holds, in its order."""

    text: str
    headers: tuple[Header, ...]
    pairs: tuple[Pair, ...]

    def pair(self, path: Path) -> Pair | None:
        return next((pair for pair in self.pairs if pair.path == path), None)

    def header(self, path: Path) -> Header | None:
        return next((header for header in self.headers if header.path == path and not header.many), None)

    def raw(self, path: Path) -> str | None:
        """The value's own text, None where there is no such key."""
        found = self.pair(path)
        return None if found is None else self.text[found.value : found.value_end]


def parse(text: str) -> Toml:
    """The tables and keys; TomlError for what cannot be read, and for a key that is there twice."""
    headers: list[Header] = []
    pairs: list[Pair] = []
    known: set[Path] = set()
    table: Path = ()
    listed = False
    at = _between(text, 0)
    while at < len(text):
        if text[at] == "[":
            header = _header(text, at)
            headers.append(header)
            table, at = header.path, header.end
            listed = listed or header.many
            at = _between(text, at)
            continue
        pair = _pair(text, at, table)
        if pair.path in known and not listed:
            raise TomlError(text, at, f"the key {dotted(pair.path)} is there twice")
        known.add(pair.path)
        pairs.append(pair)
        at = _between(text, pair.end)
    return Toml(text, tuple(headers), tuple(pairs))


def dotted(path: Path) -> str:
    """A path as TOML writes it."""
    return ".".join(entry if _BARE.fullmatch(entry) else json.dumps(entry, ensure_ascii=False) for entry in path)


def texts(raw: str) -> list[str] | None:
    """The texts of an array of strings, None where it is something else."""
    if not raw.startswith("["):
        return None
    found: list[str] = []
    at = _between(raw, 1)
    while raw[at : at + 1] != "]":
        if raw[at : at + 1] not in ('"', "'"):
            return None
        end = _string(raw, at)
        found.append(_meaning(raw[at:end]))
        at = _between(raw, end)
        if raw[at : at + 1] == ",":
            at = _between(raw, at + 1)
        elif raw[at : at + 1] != "]":
            return None
    return found


def _header(text: str, at: int) -> Header:
    many = text.startswith("[[", at)
    path, end = _key(text, _skip(text, at + (2 if many else 1)))
    end = _skip(text, end)
    closing = "]]" if many else "]"
    if not text.startswith(closing, end):
        raise TomlError(text, at, "the name of a table does not end")
    return Header(path, at, _rest(text, end + len(closing)), many)


def _pair(text: str, at: int, table: Path) -> Pair:
    path, end = _key(text, at)
    end = _skip(text, end)
    if text[end : end + 1] != "=":
        raise TomlError(text, at, "neither a table nor `key = value`")
    start = _skip(text, end + 1)
    stop = _value(text, start, 0)
    return Pair((*table, *path), at, start, stop, _rest(text, stop))


def _key(text: str, at: int) -> tuple[Path, int]:
    parts: list[str] = []
    while True:
        bare = _BARE.match(text, at)
        if bare is not None:
            parts.append(bare.group())
            at = bare.end()
        elif text[at : at + 1] in ('"', "'"):
            end = _string(text, at)
            parts.append(_meaning(text[at:end]))
            at = end
        else:
            raise TomlError(text, at, "no key where one should be")
        dot = _skip(text, at)
        if text[dot : dot + 1] != ".":
            return tuple(parts), at
        at = _skip(text, dot + 1)


def _value(text: str, at: int, depth: int) -> int:
    """Where the value that begins here ends."""
    if depth > _DEPTH:
        raise TomlError(text, at, f"more than {_DEPTH} values within each other")
    first = text[at : at + 1]
    if first in ('"', "'"):
        return _string(text, at)
    if first in ("[", "{"):
        return _group(text, at, depth)
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise TomlError(text, at, "no value where one should be")
    return plain.end()


def _group(text: str, at: int, depth: int) -> int:
    """Behind the end of an array or an inline table."""
    closing = {"[": "]", "{": "}"}[text[at]]
    begun, at = at, _between(text, at + 1)
    while not text.startswith(closing, at):
        if at >= len(text):
            raise TomlError(text, begun, f"no {closing} for what begins here")
        if closing == "}":
            _path, at = _key(text, at)
            at = _between(text, at)
            if text[at : at + 1] != "=":
                raise TomlError(text, at, "no = behind a key")
            at = _between(text, at + 1)
        at = _between(text, _value(text, at, depth + 1))
        if text[at : at + 1] == ",":
            at = _between(text, at + 1)
        elif at < len(text) and not text.startswith(closing, at):
            raise TomlError(text, at, f"neither a comma nor {closing}")
    return at + 1


def _string(text: str, at: int) -> int:
    for pattern in _STRINGS:
        match = pattern.match(text, at)
        if match is not None:
            return match.end()
    raise TomlError(text, at, "a string that does not end")


def _meaning(quoted: str) -> str:
    """A string of one line, without its quotes and escapes; its own text where that is unusual."""
    if quoted.startswith("'"):
        return quoted.strip("'")
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    if match is None:
        raise AssertionError("the pattern takes the empty text as well")
    return match.end()


def _between(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    if match is None:
        raise AssertionError("the pattern takes the empty text as well")
    return match.end()


def _rest(text: str, at: int) -> int:
    """Behind the end of the line, on which only a comment may follow."""
    match = _REST.match(text, at)
    if match is None:
        raise TomlError(text, at, f"{text[_skip(text, at)]!r} behind the end of a value")
    return match.end()
