# SPDX-License-Identifier: GPL-3.0-or-later
"""The leaves of a raw text: each value that stands in it, and the text with another one. No reader of the product is
asked for them.

A leaf's path is made of the text's own words, titles first. A line without a value is its own.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

NUMBER, WORD, MISSING = "number", "word", "missing"
WAYS = (NUMBER, WORD, MISSING)
# What stands where another word was.
_OTHER = ("Disabled", "other")
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")
_WORDS = re.compile(r"(?<![0-9A-Za-z])[A-Za-z][A-Za-z_-]+")
_ELEMENT = re.compile(r"<(/?)([A-Za-z_][\w.-]*)[^<>]*?(/?)>([^<]*)")
_RULE = re.compile(r"\s*[-=]{3,}\s*$")
# ``key: value``; any other colon inside of a word is of a GUID or an address.
_SEPARATOR = re.compile(r"\s*:(?:\s+|$)|(?<=[a-z]):(?=\S)")
_ASSIGNED = re.compile(r"\s*[\w.-]+(=)")
_KEY = re.compile(r"[a-z][a-z_]+")
# ``unlimited, tsa`` or ``3 ratelimit`` between two colons: a value and the next key.
_VALUE_AND_KEY = re.compile(r"(?:(\d+)|([^,]*),)\s+(?=\S)")


# More of them in a line are columns.
_COLUMNS = 4


class Leaf(NamedTuple):
    """``put``: the whole text with another value here, and without the line or element where it is None."""

    path: str
    value: str
    put: Callable[[str | None], str]

    @property
    def kind(self) -> str:
        """What its like within one part share: link 3 and link 4 have leaves of one kind."""
        return re.sub(r"\d+", "*", self.path)


def bent(leaf: Leaf, way: str, draw: Random) -> str | None:
    """The text with this leaf bent; None where it cannot be in this way."""
    if way == MISSING:
        return leaf.put(None)
    found = list((_NUMBERS if way == NUMBER else _WORDS).finditer(leaf.value))
    if not found:
        return None
    one = draw.choice(found)
    new = _number(one[0], draw) if way == NUMBER else next(word for word in _OTHER if word != one[0])
    return leaf.put(leaf.value[: one.start()] + new + leaf.value[one.end() :])


def _number(old: str, draw: Random) -> str:
    """More or less than it was."""
    if old.startswith("0x"):
        width = len(old) - 2
        return f"0x{int(old, 16) ^ (1 << draw.randrange(4 * width)):0{width}x}"
    number = int(old)
    new = draw.choice([number // 2, number * 2 + 1]) if number else draw.randrange(1, 9)
    return f"{new:0{len(old)}}" if old.startswith("0") else str(new)


def leaves(text: str, begin: int = 0, end: int | None = None) -> Iterator[Leaf]:
    """Of XML by element, of tables by column, of all else by lines of keys and values.

    ``begin`` to ``end``: the block of one of the things that the text tells of; who it is stands in no path.
    """
    each = _of_elements if text.lstrip().startswith("<") else _of_lines
    for path, start, stop, whole in each(text, begin, len(text) if end is None else end):
        yield Leaf(path, text[start:stop], _put(text, start, stop, whole))


def of_json(text: str, chosen: Callable[[Any], Any] = lambda value: value) -> Iterator[Leaf]:
    """Every value of a JSON text, or of what is ``chosen`` in it, that is no object and no list."""
    for path, steps in _steps(chosen(json.loads(text))):
        value = chosen(json.loads(text))
        for step in steps:
            value = value[step]
        yield Leaf(path, str(value), _put_json(text, chosen, steps, type(value)))


def _put(text: str, start: int, stop: int, whole: tuple[int, int]) -> Callable[[str | None], str]:
    def put(value: str | None) -> str:
        return text[: whole[0]] + text[whole[1] :] if value is None else text[:start] + value + text[stop:]

    return put


def _put_json(
    text: str, chosen: Callable[[Any], Any], steps: tuple[Any, ...], kind: type
) -> Callable[[str | None], str]:
    def put(value: str | None) -> str:
        everything = copy.deepcopy(json.loads(text))
        holder = chosen(everything)
        for step in steps[:-1]:
            holder = holder[step]
        if value is None:
            del holder[steps[-1]]
        else:
            holder[steps[-1]] = int(value) if kind is int else value
        return json.dumps(everything)

    return put


def _steps(value: Any, path: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in items:
        name = f"{path}/{step}".lstrip("/") if isinstance(value, dict) else path
        if isinstance(inner, (dict, list)):
            yield from ((found, (step, *steps)) for found, steps in _steps(inner, name))
        else:
            yield name, (step,)


_Found = Iterator[tuple[str, int, int, tuple[int, int]]]


def _of_elements(text: str, begin: int, end: int) -> _Found:
    """Every element that holds no other."""
    open_: list[tuple[str, int, int]] = []
    holds = False
    for match in _ELEMENT.finditer(text, begin, end):
        closes, name, empty, below = match.groups()
        path = "/".join([title for title, *_places in open_[1:]])
        if closes:
            _name, start, inside = open_.pop()
            if not holds:
                value = text[inside : match.start()]
                first = inside + len(value) - len(value.lstrip())
                stop = max(first, inside + len(value.rstrip()))
                yield path, first, stop, (start, match.end() - len(below))
            holds = True
        elif empty:
            yield f"{path}/{name}".lstrip("/"), match.end(3), match.end(3), (match.start(), match.end() - len(below))
            holds = True
        else:
            open_.append((name, match.start(), match.end() - len(below)))
            holds = False


def _of_lines(text: str, begin: int, end: int) -> _Found:
    titles: list[tuple[int, str]] = []
    header = next((line for line in text.splitlines() if line.strip()), "")
    columns = header.split("\t") if header.count("\t") > _COLUMNS else []
    at = begin
    lines = text[begin:end].splitlines(keepends=True)
    for number, line in enumerate(lines):
        start, at = at, at + len(line)
        words, below = line.strip(), (lines[number + 1] if number + 1 < len(lines) else "")
        if not words or _RULE.match(line):
            continue
        if _RULE.match(below):
            titles = [(-1, words)]
            continue
        cells = columns and line.count("\t") > _COLUMNS
        found = _cells(line, columns) if cells else _values(line.rstrip("\n"))
        indent = _indent(line)
        titles = [one for one in titles if one[0] < indent]
        above = "".join(f"{title}/" for _indent, title in titles)
        values = list(found) or [(words, indent, indent + len(words))]
        for key, first, last in values:
            if last > first or _indent(below) <= indent:
                yield f"{above}{key or number}", start + first, start + last, (start, at)
        if start > begin or end == len(text):
            titles.append((indent, values[0][0].rstrip(":")))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _cells(line: str, columns: list[str]) -> Iterator[tuple[str, int, int]]:
    at = 0
    for name, cell in zip(columns, line.split("\t"), strict=False):
        if at and cell.strip():
            yield name.strip(), at + _indent(cell), at + len(cell.rstrip())
        at += len(cell) + 1


def _values(line: str) -> Iterator[tuple[str, int, int]]:
    """Key, begin and end of every value of a line."""
    stop = len(line.rstrip())
    assigned = _ASSIGNED.match(line)
    separators = list(_SEPARATOR.finditer(line))
    if assigned and not (separators and separators[0].start() < assigned.start(1)):
        yield line[: assigned.start(1)].strip(), assigned.end(1), stop
    elif separators:
        yield from _between(line, separators, stop)
    else:
        words = list(re.finditer(r"\S+", line))
        if len(words) > _COLUMNS and len(words) % 2 == 0 and all(_KEY.fullmatch(word[0]) for word in words[::2]):
            for key, value in zip(words[::2], words[1::2], strict=True):
                yield key[0], value.start(), value.end()
        elif words[0][0][0].isdigit():
            yield "", words[0].start(), stop
        elif len(words) > 1:
            yield words[0][0], words[1].start(), stop


def _between(line: str, separators: list[re.Match[str]], stop: int) -> Iterator[tuple[str, int, int]]:
    key = line[: separators[0].start()].strip()
    for at, one in enumerate(separators):
        segment = line[one.end() : separators[at + 1].start()] if one is not separators[-1] else ""
        middle = _VALUE_AND_KEY.match(segment)
        if one is separators[-1] or segment.isdigit():
            yield key, one.end(), max(one.end(), stop)
            return
        if middle is None:
            key = f"{key} {segment.strip()}"
        else:
            value = middle[1] or middle[2]
            yield key, one.end(), one.end() + len(value)
            key = f"{key} {value} {segment[middle.end() :]}" if middle[1] else segment[middle.end() :]
