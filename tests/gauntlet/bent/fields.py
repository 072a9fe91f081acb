# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of what a parser returns, and each of them bent: wrong in one way, the rest as it was.

A parser returns dataclasses, tuples and dictionaries in each other. A field is a value in them that
is none of these, or how many of them there are. It is named by the dataclass and its field
(``Gpu.ecc[*]``), so that eight GPUs have one field with eight places.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

Steps = tuple[Any, ...]

NUMBER, ZERO, WORD, MISSING, MORE = "number", "zero", "word", "missing", "more"
# Another number, 0, another word, nothing, and something where a healthy node has nothing.
KINDS = (NUMBER, ZERO, WORD, MISSING, MORE)
_DIGITS = re.compile(r"\d+")
# A key that names a thing of this host, not what is known of every such thing.
_OWN = re.compile(r"\d|^/|^$")
_SAMPLES: dict[Any, Any] = {str: "bent", int: 7, float: 7.0, bool: True, bytes: b"bent"}


class Place(NamedTuple):
    """Where a field is in what a parser returned: attribute names, keys and positions (``steps``).

    ``hint``: its type as the dataclass declares it, None where it is inside something else.
    """

    field: str
    steps: Steps
    value: Any
    hint: Any = None


def places(value: Any, name: str = "", steps: Steps = (), hint: Any = None) -> Iterator[Place]:
    """Every place of every field, in order."""
    if _is_record(value):
        for each, inner in _hints(type(value)).items():
            yield from places(getattr(value, each), f"{type(value).__name__}.{each}", (*steps, each), inner)
    elif isinstance(value, dict):
        yield Place(f"{name}{{}}", steps, value, hint)
        for key, inner in value.items():
            label = "*" if not isinstance(key, str) or _OWN.search(key) else key
            yield from places(inner, f"{name}[{label}]", (*steps, key))
    elif isinstance(value, (tuple, list)):
        yield Place(f"{name}[]", steps, value, hint)
        for at, inner in enumerate(value):
            yield from places(inner, f"{name}[*]", (*steps, at))
    elif isinstance(value, (set, frozenset)):
        yield Place(f"{name}[]", steps, value, hint)
    else:
        yield Place(name, steps, value, hint)


def at(value: Any, steps: Steps) -> Any:
    """What is at this place."""
    for step in steps:
        value = getattr(value, step) if _is_record(value) else value[step]
    return value


def bent(value: Any, kind: str, hint: Any = None) -> Any:
    """The value, wrong in this way; the value itself where it cannot be."""
    if kind == MORE:
        return _sample(hint) if value in (None, "", (), [], {}, frozenset()) else value
    if isinstance(value, bool):
        return (not value) if kind == WORD else value
    if isinstance(value, (int, float)):
        return {NUMBER: value * 10 + 7, ZERO: type(value)(0)}.get(kind, value)
    if isinstance(value, str):
        return _text(value, kind)
    if kind == MISSING and value:
        if isinstance(value, dict):
            return dict(list(value.items())[:-1])
        if isinstance(value, (tuple, list)):
            return value[:-1]
        if isinstance(value, (set, frozenset)):
            return type(value)(sorted(value, key=repr)[:-1])
    return value


def _text(value: str, kind: str) -> str:
    if not value:
        return value
    if kind == WORD:
        return "bent"
    if kind == MISSING:
        return ""
    digits = _DIGITS.search(value)
    if digits is None:
        return value
    number = "0" if kind == ZERO else str(int(digits[0]) * 10 + 7)
    return value[: digits.start()] + number + value[digits.end() :]


def replaced(value: Any, steps: Steps, new: Any) -> Any:
    """What the parser returned, with another value at this place."""
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if _is_record(value):
        return dataclasses.replace(value, **{step: replaced(getattr(value, step), rest, new)})
    if isinstance(value, dict):
        return {**value, step: replaced(value[step], rest, new)}
    inner = [*value[:step], replaced(value[step], rest, new), *value[step + 1 :]]
    return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    known = typing.get_type_hints(kind)
    return {each.name: known[each.name] for each in dataclasses.fields(kind)}


def _sample(hint: Any) -> Any:
    """Something of this type; None where this cannot tell how it is made."""
    if hint in _SAMPLES:
        return _SAMPLES[hint]
    origin, inner = typing.get_origin(hint), [each for each in typing.get_args(hint) if each is not type(None)]
    if origin is typing.Union or type(hint).__name__ == "UnionType":
        return _sample(inner[0])
    if origin in (tuple, list, frozenset):
        return origin([_sample(each) for each in inner if each is not Ellipsis])
    if origin is dict:
        return {_sample(inner[0]): _sample(inner[1])}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint(**{name: _sample(each) for name, each in _hints(hint).items()})
    return None
