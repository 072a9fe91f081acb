# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a run object without the facts of its hosts: of a large fleet these are gigabytes.

Host after host is parsed, and only what two runs are compared by is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

_HOSTS = "hosts"
_KEPT = ("verdict", "checks")
_BLANK = re.compile(r"[ \t\n\r]*")

Value = Callable[[str, int], tuple[Any, int]]


def no_number(word: str) -> NoReturn:
    """What JSON has no number for, and Python's json takes all the same."""
    raise ValueError(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=no_number)


def parse(text: str) -> Any:
    """As json.loads, but of every host only verdict and checks; raises JSONDecodeError."""

    def host(_name: str, at: int) -> tuple[Any, int]:
        whole, end = _DECODER.raw_decode(text, at)
        if not isinstance(whole, dict):
            return whole, end
        return {key: whole[key] for key in _KEPT if key in whole}, end

    def member(name: str, at: int) -> tuple[Any, int]:
        if name == _HOSTS and text[at : at + 1] == "{":
            return _object(text, at, host)
        return _DECODER.raw_decode(text, at)

    at = _after(text, 0)
    is_object = text[at : at + 1] == "{"
    found, end = _object(text, at, member) if is_object else _DECODER.raw_decode(text, at)
    if _after(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return found


def _object(text: str, at: int, value: Value) -> tuple[dict[str, Any], int]:
    """The object that begins here, each of its values by ``value``, and where it ends."""
    found: dict[str, Any] = {}
    at = _after(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name", text, at)
        name, at = _DECODER.raw_decode(text, at)
        at = _expected(text, _after(text, at), ":")
        found[name], at = value(name, at)
        at = _after(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        at = _expected(text, at, ",")


def _after(text: str, at: int) -> int:
    """Where blanks end."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _expected(text: str, at: int, mark: str) -> int:
    """Where what follows the mark begins."""
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"Expecting '{mark}' delimiter", text, at)
    return _after(text, at + 1)
