# SPDX-License-Identifier: GPL-3.0-or-later
"""All that equal hosts should have alike, and what each has for itself, in few words; no I/O.

``equals``: by kind of part what most of a host's parts have, and which has something else. ``own``: by leaf and
place what nobody else may have. Equal hosts tell ``equals`` alike, to the byte.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Iterable, Mapping, Sequence

from .._data.leaf_names import UNIQUE, UNSAID
from .._evidence.sources import Cached
from .._expect.expectations import Expectations
from .._parse._nvsmi import no_answer
from . import parts
from .compare import NOTHING, TOOLS, Part, compared, excuse, matches, plain, without_cuts

# Of a leaf of which nothing is known, as its source could not be read.
UNREAD = ""
# A word as short as this is a number of many things.
_SHORTEST = 7
Kinds = Mapping[str, Mapping[str, Any]]


def told(seen: Cached, expect: Expectations) -> dict[str, dict[str, Any]]:
    """The facts ``equals`` and ``own`` of one host."""
    found = [part for kind in (parts.GPU, parts.INFINIBAND, parts.ETHERNET) for part in parts.of(seen, kind)]
    mine = [part for part in found if not expect.ignores(*part.names, part.subject)]
    kinds: dict[str, dict[str, Part]] = {}
    for part in (*mine, parts.host(seen)):
        members = kinds.setdefault(" ".join(part.kind), {})
        members[f"GPU {len(members)}" if part.kind[0] == parts.GPU else part.subject] = part
    return {"equals": {kind: _kind(members) for kind, members in kinds.items()}, "own": _own(kinds)}


def opened(kinds: Kinds) -> Iterable[Part]:
    """The parts of ``equals``, with their place as subject."""
    for kind, told in kinds.items():
        for place, other in told["differs"].items():
            texts: dict[str, dict[str, str]] = {}
            for leaf, value in {**told["usual"], **other}.items():
                source, _slash, path = leaf.partition("/")
                if value != UNREAD:
                    texts.setdefault(source, {})[path] = value
            yield Part((kind, place), place, tuple(told["names"].get(place, ())), texts)


def _kind(members: Mapping[str, Part]) -> dict[str, Any]:
    whole = dict(zip(members, without_cuts(list(members.values()))))
    leaves = list(
        dict.fromkeys(
            f"{source}/{path}" for part in whole.values() for source in part.texts for path in part.texts[source]
        )
    )
    leaves = [leaf for leaf in leaves if compared(leaf)]
    values = {place: {leaf: _value(part, leaf) for leaf in leaves} for place, part in whole.items()}
    usual = {leaf: _most(told[leaf] for told in values.values()) for leaf in next(iter(values.values()))}
    differs = {
        place: {leaf: value for leaf, value in told.items() if value != usual[leaf]} for place, told in values.items()
    }
    return {
        "usual": usual,
        "differs": differs,
        "names": {place: list(part.names) for place, part in members.items() if part.names},
    }


def _most(values: Iterable[str]) -> str:
    return Counter(values).most_common(1)[0][0]


def _value(part: Part, leaf: str) -> str:
    source, _slash, path = leaf.partition("/")
    text = part.texts.get(source)
    if text is None or (path not in text and source not in TOOLS):
        return UNREAD
    return text.get(path, NOTHING)


def _own(kinds: Mapping[str, Mapping[str, Part]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for members in kinds.values():
        for part in members.values():
            for leaf, value in _leaves(part):
                if _says(value) and (excuse(leaf) == "identity" or matches(UNIQUE, plain(leaf))):
                    found.setdefault(leaf, {})[part.subject] = _shown(leaf, value)
    return found


def _says(value: str) -> bool:
    return len(value) >= _SHORTEST and not no_answer(value) and value.lower() not in UNSAID


def _leaves(part: Part) -> Sequence[tuple[str, str]]:
    return [(f"{source}/{path}", value) for source, text in part.texts.items() for path, value in text.items()]


def _shown(leaf: str, value: str) -> str:
    """machine-id(5): it must not be shown to others as it is."""
    return hashlib.sha256(f"ibready {value}".encode()).hexdigest()[:16] if "machine-id" in leaf else value
