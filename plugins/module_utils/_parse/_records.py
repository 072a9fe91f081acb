# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the JSON that tools print whole, and that of iproute2: one array of objects."""

from __future__ import annotations

import json
from typing import Any

from .._ground.text import ParseError, clean_lines, to_short_int

# What is read of an object. Some releases print others twice, in the details of a device.
_READ = {
    *("ifname", "flags", "mtu", "link_type", "linkinfo", "info_kind", "master", "addr_info"),
    *("family", "local", "prefixlen", "scope"),
    *("type", "dst", "dev", "prefsrc", "gateway", "via", "host"),
}


def records(tool: str, text: str) -> list[dict[str, Any]]:
    """The objects of the array, without empty ones; ParseError where it is anything else."""
    found = load(tool, text)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ParseError(tool, 0, "", "no array of objects")
    return [item for item in found if item]


def load(tool: str, text: str) -> Any:
    """What the whole text holds; ParseError, with the line, where it is no JSON."""
    lines = clean_lines(text)
    if not any(line.strip() for line in lines):
        raise ParseError(tool, 0, "", "empty output")
    try:
        return json.loads(
            "\n".join(lines),
            object_pairs_hook=_once,
            parse_int=to_short_int,
            parse_constant=_no_number,
            strict=False,
        )
    except json.JSONDecodeError as exc:
        line = lines[exc.lineno - 1] if exc.lineno <= len(lines) else ""
        raise ParseError(tool, exc.lineno, line, f"no JSON from here on: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:
        why = "nested too deep" if isinstance(exc, RecursionError) else str(exc)
        raise ParseError(tool, 0, "", why) from exc


def text_of(tool: str, record: dict[str, Any], key: str) -> str:
    """The record's text of this key, "" without one; ParseError where it is no text."""
    value = record.get(key, "")
    if not isinstance(value, str):
        raise ParseError(tool, 0, "", f"{key} is no text")
    return value


def number_of(tool: str, record: dict[str, Any], key: str) -> int | None:
    """The record's number of this key, None without one; ParseError where it is no number."""
    value = record.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ParseError(tool, 0, "", f"{key} is no number")
    return value


def list_of(tool: str, record: dict[str, Any], key: str) -> list[Any]:
    """The record's list of this key, [] without one; ParseError where it is no list."""
    value = record.get(key, [])
    if not isinstance(value, list):
        raise ParseError(tool, 0, "", f"{key} is no list")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs if key in _READ]
    if len(set(keys)) != len(keys):
        raise ValueError("an object has one key twice")
    return dict(pairs)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text[:20]} is no number")
