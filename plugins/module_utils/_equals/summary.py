# SPDX-License-Identifier: GPL-3.0-or-later
"""All that equal hosts should have alike, and what each has for itself, in few words; no I/O.

``equals``: by kind of part what most of a host's parts have, and which has something else. ``own``: by leaf and
place what nobody else may have. Equal hosts tell ``equals`` alike, to the byte.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import Any, Iterable, Mapping, Sequence

from .._data.leaf_names import UNIQUE, UNSAID
from .._parse._nvsmi import no_answer
from . import parts
from .compare import NOTHING, UNREAD, Part, compared, excuse, matches, plain, tells, without_cuts

# A word as short as this is a number of many things.
_SHORTEST = 7
Kinds = Mapping[str, Mapping[str, Any]]


def told(members: Sequence[Part]) -> dict[str, dict[str, Any]]:
    """The facts ``equals`` and ``own`` of a host that has these parts, and of which the last may be itself."""
    kinds: dict[str, dict[str, Part]] = {}
    alike: dict[tuple[str, ...], list[Part]] = {}
    for part in members:
        alike.setdefault(part.kind, []).append(part)
    whole = {part.subject: part for some in alike.values() for part in without_cuts(some)}
    for part in members:
        mine = kinds.setdefault(part.kind[0], {})
        mine[f"GPU {len(mine)}" if part.kind[0] == parts.GPU else part.subject] = whole[part.subject]
    return {"equals": {kind: _kind(mine) for kind, mine in kinds.items()}, "own": _own(kinds)}


def opened(kinds: Kinds) -> Iterable[Part]:
    """The parts of ``equals``, with their place as subject."""
    for kind, told in kinds.items():
        for place, other in told["differs"].items():
            texts: dict[str, dict[str, str]] = {}
            for leaf, value in {**told["usual"], **other}.items():
                source, _slash, path = leaf.partition("/")
                texts.setdefault(source, {})[path] = value
            yield Part((kind, place), place, tuple(told["names"].get(place, ())), texts)


def _kind(members: Mapping[str, Part]) -> dict[str, Any]:
    leaves = dict.fromkeys(f"{source}/{path}" for part in members.values() for source, path in _paths(part))
    told = [leaf for leaf in leaves if compared(leaf)]
    values = {place: {leaf: tells(part, leaf) for leaf in told} for place, part in members.items()}
    usual = {leaf: _most(mine[leaf] for mine in values.values()) for leaf in told}
    differs = {
        place: {leaf: value for leaf, value in mine.items() if value != usual[leaf]} for place, mine in values.items()
    }
    return {
        "usual": usual,
        "differs": differs,
        "names": {place: list(part.names) for place, part in members.items() if part.names},
    }


def _most(values: Iterable[str]) -> str:
    return Counter(values).most_common(1)[0][0]


def _own(kinds: Mapping[str, Mapping[str, Part]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for members in kinds.values():
        for part in members.values():
            for source, path in _paths(part):
                leaf, value = f"{source}/{path}", part.texts[source][path]
                if _is_own(leaf) and _says(value):
                    found.setdefault(leaf, {})[part.subject] = _shown(leaf, value)
    return found


@lru_cache(maxsize=4096)
def _is_own(leaf: str) -> bool:
    return excuse(leaf) == "identity" or matches(UNIQUE, plain(leaf))


def _says(value: str) -> bool:
    return len(value) >= _SHORTEST and not no_answer(value) and value.lower() not in (*UNSAID, NOTHING, UNREAD)


def _paths(part: Part) -> Sequence[tuple[str, str]]:
    return [(source, path) for source, text in part.texts.items() for path in text]


def _shown(leaf: str, value: str) -> str:
    """machine-id(5): it must not be shown to others as it is."""
    return hashlib.sha256(f"ibready {value}".encode()).hexdigest()[:16] if "machine-id" in leaf else value
