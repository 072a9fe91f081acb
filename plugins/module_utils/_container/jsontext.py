# SPDX-License-Identifier: GPL-3.0-or-later
"""Read JSON as strictly as the engines do, and remember where each value stands in the text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORD = re.compile(r"(?:true|false|null)(?![0-9A-Za-z_])")
_DEPTH = 100
BOM = "\ufeff"


class JsonError(ValueError):
    """Text that is not what it should be; the message begins with its line and column."""

    def __init__(self, text: str, at: int, wrong: str) -> None:
        before = text[:at]
        line = before.count("\n") + 1
        column = at - (before.rfind("\n") + 1) + 1
        super().__init__(f"line {line} column {column}: {wrong}")


@dataclass(frozen=True)
class Member:
    """``key`` of an object, from ``start`` (its first quote) to ``end`` (behind its value)."""

    key: str
    start: int
    value: Node

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True)
class Node:
    """One value, from ``start`` to behind its last character. ``kind``: object, list, string..."""

    kind: str
    start: int
    end: int
    members: tuple[Member, ...] = field(default=())

    def member(self, key: str) -> Member | None:
        return next((one for one in self.members if one.key == key), None)


def parse(text: str) -> Node:
    """The whole text; JsonError for whatever is no JSON, and for a key that is there twice."""
    if text.startswith(BOM):
        raise JsonError(text, 0, "a byte order mark is no JSON")
    at = _skip(text, 0)
    if at == len(text):
        raise JsonError(text, at, "the file is empty")
    node = _value(text, at, 0)
    at = _skip(text, node.end)
    if at != len(text):
        raise JsonError(text, at, f"{_seen(text, at)} behind the end of the value")
    return node


def value(text: str, node: Node) -> Any:
    """What a node means."""
    return json.loads(text[node.start : node.end])


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None
    return match.end()


def _seen(text: str, at: int) -> str:
    if at >= len(text):
        return "the end of the file"
    if text.startswith(("//", "/*", "#"), at):
        return "a comment, which JSON does not have,"
    return repr(text[at])


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEPTH:
        raise JsonError(text, at, f"more than {_DEPTH} values within each other")
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _list(text, at, depth)
    for kind, pattern in (("string", _STRING), ("number", _NUMBER), ("word", _WORD)):
        match = pattern.match(text, at)
        if match is not None:
            return Node(kind, at, match.end())
    if first == '"':
        raise JsonError(text, at, "a string that does not end, or holds what it must not")
    raise JsonError(text, at, f"{_seen(text, at)} instead of a value")


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    known: set[str] = set()
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}" or members:
        key = _STRING.match(text, at)
        if key is None:
            raise JsonError(text, at, f"{_seen(text, at)} instead of a key in quotes")
        name = json.loads(key.group())
        if name in known:
            raise JsonError(text, at, f"the key {name!r} is there twice")
        known.add(name)
        colon = _skip(text, key.end())
        if text[colon : colon + 1] != ":":
            raise JsonError(text, colon, f"{_seen(text, colon)} instead of a colon")
        node = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(name, at, node))
        at, ended = _next(text, node.end, "}")
        if ended:
            return Node("object", start, at, tuple(members))
    return Node("object", start, at + 1)


def _list(text: str, start: int, depth: int) -> Node:
    at = _skip(text, start + 1)
    if text[at : at + 1] == "]":
        return Node("list", start, at + 1)
    while True:
        node = _value(text, at, depth + 1)
        at, ended = _next(text, node.end, "]")
        if ended:
            return Node("list", start, at)


def _next(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Behind a comma or behind the closing sign."""
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign == closing:
        return at + 1, True
    if sign != ",":
        raise JsonError(text, at, f"{_seen(text, at)} instead of a comma or {closing}")
    return _skip(text, at + 1), False
