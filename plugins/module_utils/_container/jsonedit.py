# SPDX-License-Identifier: GPL-3.0-or-later
"""Change single keys of a JSON text and leave every other character as it is."""

from __future__ import annotations

import json
from typing import Any, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._container.jsontext import (
    JsonError,
    Node,
    parse,
    value,
)

# There is no such key, which is something else than null.
ABSENT = object()
_INDENT = "    "


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
    at = next(number for number, one in enumerate(members) if one.key == path[-1])
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
            raise JsonError(
                text, nodes[-1].start, f"{named} is a {_kind(text, nodes[-1])}, not an object"
            )
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
