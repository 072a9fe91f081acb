# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold equal hosts against each other in every leaf of their parts, place by place; no I/O.

What two share that each must have for itself is told of both, with the other's name: each told it of itself, and
nobody knows which of them was first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Collection, Iterator, Mapping, Sequence

from .._data.leaf_names import FOLLOWS, UNIQUE
from .._equals import compare, summary, tell
from .._equals.compare import NOTHING, Outlier, Part
from .._equals.parts import GPU
from .._expect.expectations import CAPABILITY, Expectations
from .._ground.catalog import entry
from .._ground.check import FAIL, UNKNOWN, Check, failed, unknown
from .._ground.equals import CLAIMED
from .._ground.text import few
from .fleet_same import MIN_FLEET, Group

SETTING, OTHER = "fleet.equals.setting", "fleet.equals.other"
ADDRESS, IDENTITY = "fleet.rail.address", "fleet.host.identity"
_ADDRESSES = "rdma/addresses"
# Of so many at least, nearly all have one of their own: only then it is an identity.
_ENOUGH, _NEARLY = 5, 0.8
_SHOWN = 4


@dataclass(frozen=True)
class Told:
    """What one host told: the facts ``equals`` and ``own``, and all checks of it until now."""

    equals: summary.Kinds = field(default_factory=dict)
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    expect: Expectations = field(default_factory=Expectations)


def judge(hosts: Mapping[str, Told], groups: Sequence[Group]) -> dict[str, list[Check]]:
    """What of each host differs from most of its equals, and what it shares with another."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups:
        for host, found in _outliers({host: hosts[host] for host in group.hosts if host in hosts}).items():
            mine = hosts[host]
            checks[host] += tell.checks(found, mine.checks, mine.expect, SETTING, OTHER, who="fleet")
    for host, check in _shared(hosts):
        checks[host].append(check)
    return checks


def _outliers(hosts: Mapping[str, Told]) -> dict[str, list[Outlier]]:
    """By host; each part's subject is its place, that of a GPU its bus id."""
    # Equal hosts tell the same: nothing of it has to be opened.
    texts = {host: json.dumps(told.equals, sort_keys=True) for host, told in hosts.items()}
    every = {text: list(summary.opened(hosts[host].equals)) for host, text in texts.items()}
    if len(every) < 2:
        return {}
    values: dict[tuple[object, ...], set[str | None]] = {}
    leaves = {(part.kind, source, path) for parts in every.values() for part in parts for source, path in _paths(part)}
    for parts in every.values():
        mine = {(part.kind, source, path): part.texts[source][path] for part in parts for source, path in _paths(part)}
        for leaf in leaves:
            values.setdefault(leaf, set()).add(mine.get(leaf))
    # What all have alike says nothing, but for the states in which something is compared, and how texts end.
    ends = {(one.kind, *_paths(one)[-1]) for parts in every.values() for part in parts for one in _each_text(part)}
    needed = ends | {leaf for leaf in leaves if len(values[leaf]) > 1 or compare.is_state(f"{leaf[1]}/{leaf[2]}")}
    lean = {text: [_lean(part, needed) for part in parts] for text, parts in every.items()}
    parts = [
        replace(part, kind=_kind(part, lean[text]), subject=host, names=(*part.names, host))
        for host, text in texts.items()
        for part in lean[text]
    ]
    found: dict[str, list[Outlier]] = {}
    for one in compare.outliers(parts, MIN_FLEET, compare.FILES):
        host, place = one.part.subject, one.part.kind[-1]
        if not _follows(one, hosts[host].checks):
            names = one.part.names[:-1]
            part = replace(one.part, subject=names[-1] if names and place.startswith(GPU) else place, names=names)
            found.setdefault(host, []).append(replace(one, part=part))
    return found


def _kind(part: Part, members: Sequence[Part]) -> tuple[str, ...]:
    """What it is compared by, its place last; a GPU is only in the same place where there are as many."""
    kind, place = part.kind
    many = str(sum(one.kind[0] == kind for one in members)) if place.startswith(GPU) else ""
    return kind, many, place


def _paths(part: Part) -> list[tuple[str, str]]:
    return [(source, path) for source, text in part.texts.items() for path in text]


def _each_text(part: Part) -> list[Part]:
    return [replace(part, texts={source: text}) for source, text in part.texts.items() if text]


def _lean(part: Part, needed: Collection[tuple[object, ...]]) -> Part:
    texts = {
        source: {path: value for path, value in text.items() if (part.kind, source, path) in needed}
        for source, text in part.texts.items()
    }
    return replace(part, texts=texts)


def _follows(one: Outlier, checks: Sequence[Check]) -> bool:
    """Whether the source tells other things, as the host has another version of what it asks; what a row names is
    told, unless one of the two does not know it, or the row says that it comes with that version."""
    row = tell.row_of(one.leaf)
    ids: tuple[str, ...] = FOLLOWS.get(one.source, ())
    if row is not None and NOTHING not in (one.value, one.usual):
        ids = tuple(name for name in ids if name in (row.told_by or ()))
    return any(check.id in ids and check.result in (FAIL, UNKNOWN) for check in checks)


def _shared(hosts: Mapping[str, Told]) -> Iterator[tuple[str, Check]]:
    owners: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for host, told in hosts.items():
        for leaf, places in told.own.items():
            for place, value in places.items():
                for word in value.split() if leaf == _ADDRESSES else (value,):
                    owners.setdefault(leaf, {}).setdefault(word, []).append((host, place))
    for leaf, values in owners.items():
        total = sum(map(len, values.values()))
        identity = total >= _ENOUGH and len(values) >= _NEARLY * total
        if identity or compare.matches(UNIQUE, compare.plain(leaf)):
            for value, who in values.items():
                if len({host for host, _place in who}) > 1:
                    yield from _each(leaf, value, who)


def _each(leaf: str, value: str, who: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Check]]:
    for host, place in who:
        others = [f"{name} {at}".replace(" host", "") for name, at in who if name != host]
        what = "address" if leaf == _ADDRESSES else tell.said(leaf)
        observed = f"{what} {value}, also on {few(others, _SHOWN)}"
        if leaf == _ADDRESSES:
            # Each says it of itself: by its word alone no host may fail another.
            why = f"{CLAIMED}{host} {place} has {value} by its own word, and {few(others, _SHOWN)} by theirs"
            doubt = unknown(ADDRESS, place, why, observed=observed, remedy=entry(ADDRESS).remedy)
            yield host, replace(doubt, expected="on no other", expected_from=CAPABILITY)
        else:
            # By the other's word alone, too: so it is a warning, and no host stops being ready by it.
            yield host, failed(IDENTITY, place, observed, "on no other", CAPABILITY)
