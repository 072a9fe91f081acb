# SPDX-License-Identifier: GPL-3.0-or-later
"""Change single keys of a JSON text and leave every other character as it is.

It is read as strictly as the engines do, and where each value stands in the text is remembered.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Sequence

_BLANK = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORD = re.compile(r"(?:true|false|null)(?![0-9A-Za-z_])")
_DEPTH = 100
_BOM = "\ufeff"
# There is no such key, which is something else than null.
ABSENT = object()
_INDENT = "    "


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
        return next((member for member in self.members if member.key == key), None)


def parse(text: str) -> Node:
    """The whole text; JsonError for whatever is no JSON, and for a key that is there twice."""
    if text.startswith(_BOM):
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
    if match is None:
        raise AssertionError("the pattern takes the empty text as well")
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


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys, ABSENT where there is none; JsonError for a part of it that is
    no object."""
    parents, left = _way(text, path)
    return ABSENT if left else value(text, parents[-1])


def put(text: str, path: Sequence[str], new: Any) -> str:
    """The text with this value at the path; objects that are missing on the way are made."""
    parents, left = _way(text, path)
    if not left:
        node = parents[-1]
        shown = _shown(new, _indent_at(text, node.start), _step(text))
        return text[: node.start] + shown + text[node.end :]
    for key in reversed(left[1:]):
        new = {key: new}
    return _append(text, parents[-1], left[0], new)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without this key, if it is there."""
    parents, left = _way(text, path)
    if left:
        return text
    members = parents[-2].members
    at = next(number for number, member in enumerate(members) if member.key == path[-1])
    if at:
        # With the comma ahead of it.
        return text[: members[at - 1].end] + text[members[at].end :]
    if len(members) > 1:
        return text[: members[0].start] + text[members[1].start :]
    return f"{text[: parents[-2].start]}{{}}{text[parents[-2].end :]}"


def _way(text: str, path: Sequence[str]) -> tuple[list[Node], list[str]]:
    """The nodes from the root on, and the keys that are not there."""
    nodes = [parse(text)]
    for number, key in enumerate(path):
        if nodes[-1].kind != "object":
            named = ".".join(path[:number]) or "the whole"
            raise JsonError(text, nodes[-1].start, f"{named} is a {_kind(text, nodes[-1])}, not an object")
        found = nodes[-1].member(key)
        if found is None:
            return nodes, list(path[number:])
        nodes.append(found.value)
    return nodes, []


def _kind(text: str, node: Node) -> str:
    return "null" if text[node.start : node.end] == "null" else node.kind


def _append(text: str, parent: Node, key: str, new: Any) -> str:
    step = _step(text)
    if not parent.members:
        outer = _indent_at(text, parent.start)
        shown = _shown({key: new}, outer, step)
        return text[: parent.start] + shown + text[parent.end :]
    last = parent.members[-1]
    name = json.dumps(key)
    if "\n" not in text[parent.start : parent.members[0].start]:
        return f"{text[: last.end]}, {name}: {json.dumps(new)}{text[last.end :]}"
    indent = _indent_at(text, last.start)
    shown = _shown(new, indent, step)
    return f"{text[: last.end]},\n{indent}{name}: {shown}{text[last.end :]}"


def _shown(new: Any, indent: str, step: str) -> str:
    return json.dumps(new, indent=step).replace("\n", f"\n{indent}")


def _indent_at(text: str, at: int) -> str:
    """The blanks that begin the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """How the text indents: as its first key, if that begins a line."""
    root = parse(text)
    if root.members and "\n" in text[root.start : root.members[0].start]:
        return _indent_at(text, root.members[0].start) or _INDENT
    return _INDENT
