# SPDX-License-Identifier: GPL-3.0-or-later
"""What our playbooks and roles define: their tags, and the variables that they set; read from their files."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._ground import yaml as _yaml

TOP = Path(__file__).resolve().parents[3]
_FILES = ("playbooks/**/*.yml", "roles/*/tasks/*.yml", "roles/*/handlers/*.yml")
# Keywords that set variables: the names are the keyword's value, or the keys of it.
_NAMED = ("register", "loop_var", "index_var")
_KEYED = ("vars", "ansible.builtin.set_fact")


@functools.cache
def tags() -> frozenset[str]:
    """Every tag of a play, a role's task, or a block of them."""
    found: set[str] = set()
    for entry in _mappings():
        said = entry.get("tags", [])
        found.update(said.split(",") if isinstance(said, str) else said)
    return frozenset(found)


@functools.cache
def registered() -> frozenset[str]:
    """What plays and roles set themselves, which is no misspelling of an inventory's."""
    found: set[str] = set()
    for entry in _mappings():
        found.update(entry[key] for key in _NAMED if isinstance(entry.get(key), str))
        found.update(name for key in _KEYED if isinstance(entry.get(key), dict) for name in entry[key])
    return frozenset(found)


def _mappings() -> Iterator[dict[str, Any]]:
    """Every mapping of every file, however deep."""
    left = [_read()]
    while left:
        entry = left.pop()
        if isinstance(entry, dict):
            yield entry
        if isinstance(entry, (dict, list)):
            left.extend(entry.values() if isinstance(entry, dict) else entry)


@functools.cache
def _read() -> list[Any]:
    return [
        _yaml.load(path.read_text(encoding="utf-8"))
        for pattern in _FILES
        for path in sorted(TOP.glob(pattern))
        if path.parent.name != "meta"
    ]
