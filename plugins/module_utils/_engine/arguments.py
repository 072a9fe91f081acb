# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's arguments by its specification, as Ansible takes them where nothing is doubtful.

What is doubtful, wrong or of a kind that no module of ours here uses is refused: the ordinary way
takes over, and Ansible says what is wrong in its own words.
"""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Mapping

Spec = Mapping[str, Mapping[str, Any]]

_KNOWN = frozenset({"type", "elements", "choices", "default", "required", "options", "no_log"})
_TRUE = frozenset({"y", "yes", "on", "1", "true", "t"})
_FALSE = frozenset({"n", "no", "off", "0", "false", "f"})
_NUMBER = re.compile(r"-?[0-9]{1,18}\Z")


class Refused(Exception):
    """Arguments for the ordinary way; the message says why."""


def take(spec: Spec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The module's parameters; raises Refused."""
    if not isinstance(given, dict):
        raise Refused("no table")
    strange = sorted(map(str, given.keys() - spec.keys()))
    if strange:
        raise Refused(f"unknown option {strange[0]}")
    return {name: _value(name, entry, given) for name, entry in spec.items()}


def _value(name: str, entry: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    if not entry.keys() <= _KNOWN or entry.get("no_log"):
        raise Refused(f"{name}: a specification of another kind")
    if name not in given and entry.get("required"):
        raise Refused(f"{name} is required")
    value = given.get(name) if name in given else entry.get("default")
    if value is None:
        if name in given and any(entry.get(word) is not None for word in ("required", "default", "choices")):
            raise Refused(f"{name} is null")
        return None
    value = _typed(name, str(entry.get("type", "str")), value)
    if entry.get("elements"):
        if not isinstance(value, list):
            raise Refused(f"{name} is no list")
        value = [_typed(name, entry["elements"], item) for item in value]
    choices = entry.get("choices")
    if choices is not None and not all(item in choices for item in (value if isinstance(value, list) else [value])):
        raise Refused(f"{name} is none of its choices")
    options = entry.get("options")
    if options is None:
        return value
    return [take(options, item) for item in value] if isinstance(value, list) else take(options, value)


def _typed(name: str, kind: str, value: Any) -> Any:
    try:
        return _TYPES[kind](value)
    except (KeyError, TypeError, ValueError, OverflowError) as exc:
        raise Refused(f"{name} is no {kind}") from exc


def _str(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return str(value)
    raise TypeError(value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower().strip() if isinstance(value, (str, int)) else ""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(value)


def _int(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, str) and _NUMBER.match(value):
        return int(value)
    raise ValueError(value)


def _float(value: Any) -> float:
    if isinstance(value, (float, int, str)):
        return float(value)
    raise ValueError(value)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return value.split(",")
    raise ValueError(value)


def _dict(value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError(value)


def _path(value: Any) -> str:
    return os.path.expanduser(os.path.expandvars(_str(value)))


def _raw(value: Any) -> Any:
    return value


_TYPES: Mapping[str, Callable[[Any], Any]] = {
    "str": _str,
    "bool": _bool,
    "int": _int,
    "float": _float,
    "list": _list,
    "dict": _dict,
    "path": _path,
    "raw": _raw,
}
