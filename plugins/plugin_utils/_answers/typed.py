# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what came as JSON into the types that our own code has for it, or say which field is wrong.

The types are the schema: dataclasses and TypedDicts as they are annotated. Whatever else a node
answers ends here, in an AnswerError that names the field, and in no type error of a later stage.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, NewType, TypeVar, Union

from ...module_utils._ground.bound import Bound

T = TypeVar("T")
Read = Callable[[Any], Any]
_Names = tuple[tuple[Any, Any], ...]

# Beside a dataclass in Annotated: fields that have a default may stay away.
PARTLY = "partly"
# An output as a whole.
Long = NewType("Long", str)
# No other word that a module of ours returns is nearly as long.
LONGEST: Bound = 65_536
# Nor has any list or object as many entries: answers to 12,000 other hosts on 8 rails have not.
MANY: Bound = 100_000
# Nothing that is kept as it came nests as deep.
_DEEPEST: Bound = 32
# What the kernel, the drivers and their tools count in is 64 bits wide.
_LEAST, _MOST = -(2**63), 2**64 - 1
_SHOWN = 80


class AnswerError(ValueError):
    """An answer that is none of ours: ``facts.gpu.gpus[3].serial: a number, and not text``."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.why, self.where = why, where

    def below(self, place: str) -> AnswerError:
        """The same, seen from whoever holds it at ``place``."""
        dot = "." if place and self.where and not self.where.startswith("[") else ""
        return AnswerError(self.why, f"{place}{dot}{self.where}")


def read(kind: type[T], value: Any, place: str = "") -> T:
    """The value as this type; AnswerError names the first field, from ``place`` on, that is not.

    Of a dataclass, which JSON has as an object of all its fields, an object is made. A TypedDict
    may come with more than its keys; that is kept, if it is harmless. What Ansible made of texts
    and lists (subclasses of them) is as good.
    """
    every: Any = kind
    found: T = _below(place, _reader(every, ()), value)
    return found


@cache
def _reader(kind: Any, names: _Names) -> Read:
    """What reads this type; ``names``: what type variables stand for."""
    if isinstance(kind, TypeVar):
        return _reader(dict(names)[kind], ())
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin = typing.get_origin(kind) or kind
    args = [dict(names).get(get_arg, get_arg) for get_arg in typing.get_args(kind)]
    if origin is Annotated:
        return _object(args[0], (), partly=True)
    if origin in (Union, types.UnionType):
        some = [_reader(arg, names) for arg in args if arg is not types.NoneType]
        return _either(some, none=len(some) < len(args))
    if origin is Literal:
        return _word(args)
    if origin is dict or origin is Mapping:
        return _by_name(_reader(args[1], names))
    if origin is list or (origin is tuple and args[1:] == [...]):
        return _list(_reader(args[0], names), origin)
    if origin is tuple:
        return _fixed([_reader(arg, names) for arg in args])
    if typing.is_typeddict(origin):
        return _record(origin)
    if is_dataclass(origin):
        own = tuple(zip(getattr(origin, "__parameters__", ()), args, strict=True))
        return _object(origin, own)
    raise TypeError(f"{kind} is not read")


def _text(value: Any, most: float = LONGEST) -> str:
    if not isinstance(value, str):
        raise AnswerError(f"{_is(value)}, and not text")
    if len(value) > most:
        raise AnswerError(f"a text of {len(value):,} characters")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise AnswerError("a text with half a character in it") from None
    return value


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise AnswerError(f"{_is(value)}, and not true or false")


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise AnswerError(f"{_is(value)}, and not a whole number")
    if not _LEAST <= value <= _MOST:
        raise AnswerError("no number of 64 bits")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise AnswerError(f"{_is(value)}, and not a number")
    if not _LEAST <= value <= _MOST:  # Nor is NaN.
        raise AnswerError("no number of 64 bits")
    return value


def _single(value: Any) -> Any:
    """A number, a text or null, which whoever reads it looks at."""
    if isinstance(value, Mapping | list | tuple):
        raise AnswerError(f"{_is(value)}, and not a number")
    return _text(value) if isinstance(value, str) else value


def _anything(value: Any, left: int = _DEEPEST) -> Any:
    """What nobody reads by its type, but that is kept and may be shown."""
    if not left:
        raise AnswerError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, Mapping):
        for name, entry in _mapping(value).items():
            _below(shown(name), _anything, entry, left - 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            _below(f"[{number}]", _anything, item, left - 1)
    elif isinstance(value, str):
        _text(value)
    elif value is not None and not isinstance(value, bool):
        _number(value)
    return value


def _below(place: str, reader: Callable[..., Any], *value: Any) -> Any:
    try:
        return reader(*value)
    except AnswerError as exc:
        raise exc.below(place) from None


_PLAIN: dict[Any, Read] = {
    str: _text,
    Long: lambda value: _text(value, math.inf),
    bool: _switch,
    int: _whole,
    float: _number,
    Any: _anything,
    object: _single,
}


def _either(kinds: list[Read], *, none: bool) -> Read:
    """By the first of these types that the value is of; ``none``: it may be null as well."""

    def either(value: Any) -> Any:
        if value is None and none:
            return None
        for kind in kinds[:-1]:
            try:
                return kind(value)
            except AnswerError:
                continue
        return kinds[-1](value)

    return either


def _word(words: list[Any]) -> Read:
    def word(value: Any) -> Any:
        if _text(value) not in words:
            raise AnswerError(f"none of {', '.join(words)}")
        return value

    return word


def _list(item: Read, make: Callable[[list[Any]], Any]) -> Read:
    def several(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise AnswerError(f"{_is(value)}, and not a list")
        if len(value) > MANY:
            raise AnswerError(f"{len(value):,} entries")
        found: list[Any] = []
        try:
            for entry in value:
                found.append(item(entry))
        except AnswerError as exc:
            raise exc.below(f"[{len(found)}]") from None
        return make(found)

    return several


def _fixed(items: list[Read]) -> Read:
    def fixed(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(items):
            raise AnswerError(f"{_is(value)}, and not a list of {len(items)}")
        return tuple(_below(f"[{at}]", items[at], entry) for at, entry in enumerate(value))

    return fixed


def _by_name(item: Read) -> Read:
    def by_name(value: Any) -> dict[str, Any]:
        found = {}
        name: Any = ""
        try:
            for name, entry in _mapping(value).items():
                found[_text(name)] = item(entry)
        except AnswerError as exc:
            raise exc.below(shown(name)) from None
        return found

    return by_name


def _record(kind: Any) -> Read:
    readers = {
        name: _reader(type_hint, ()) for name, type_hint in typing.get_type_hints(kind, include_extras=True).items()
    }

    def record(value: Any) -> dict[str, Any]:
        lacking = sorted(kind.__required_keys__ - _mapping(value).keys())
        if lacking:
            raise AnswerError("missing", lacking[0])
        found = {}
        try:
            for name, entry in value.items():
                found[name] = readers.get(name, _anything)(entry)
        except AnswerError as exc:
            raise exc.below(shown(name)) from None
        return found

    return record


def _object(kind: Any, names: _Names, *, partly: bool = False) -> Read:
    hints = typing.get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name], names) for field in fields(kind)}

    def make(value: Any) -> Any:
        found = {}
        name: Any = ""
        try:
            for name, entry in _mapping(value).items():
                found[name] = readers[name](entry)
        except AnswerError as exc:
            raise exc.below(shown(name)) from None
        except KeyError:
            raise AnswerError("not known", shown(name)) from None
        if len(found) != len(readers) and not partly:
            raise AnswerError("missing", next(reader for reader in readers if reader not in found))
        return kind(**found)

    return make


def _mapping(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise AnswerError(f"{_is(value)}, and not an object")
    if len(value) > MANY:
        raise AnswerError(f"{len(value):,} entries")
    return value


def shown(name: Any) -> str:
    """A node's own word in a sentence: on one line, and not long."""
    text = ascii(name)[1:-1] if isinstance(name, str) else _is(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _is(value: Any) -> str:
    for kinds, word in _WORDS:
        if isinstance(value, kinds):
            return word
    return "nothing" if value is None else type(value).__name__


_WORDS: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    (str, "text"),
    (int | float, "a number"),
    (Mapping, "an object"),
    (list | tuple, "a list"),
)
