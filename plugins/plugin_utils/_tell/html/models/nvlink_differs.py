# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the NVLinks of equal hosts differs, and on which host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...._ground.dicts import as_dict, as_list
from . import fleet
from .nvlink_host import Links, errors, pairs
from .text import brief

# How a difference is told: words of the page.
DOWN, FEWER, MISSING, JOINED = "down", "fewer", "missing", "joined"
ERRORS, MANAGER, SWITCH = "errors", "manager", "switch"


@dataclass(frozen=True)
class Difference:
    """What is not as it should be, or as on most others: ``what`` is one of the words above."""

    host: str
    part: str
    what: str
    seen: str
    usual: str = ""


def differences(
    entry: fleet.Class, links: Mapping[str, Links], usual: Mapping[str, int], minded: Collection[str]
) -> list[Difference]:
    """The worst kind first. ``links``: by host; ``usual``: links up, by GPU; ``minded``: hosts
    whose links a check minds."""
    joined = {host.name: pairs(host) for host in entry.hosts}
    expected = _usual_pairs(joined)
    found = [
        *(said for host in entry.hosts for said in _of_links(host, links[host.name], usual, minded)),
        *(said for name, mine in joined.items() for said in _of_pairs(name, mine, expected)),
        *_managers(entry),
    ]
    return sorted(found, key=_weight)


def _of_links(host: fleet.Seen, mine: Links, usual: Mapping[str, int], minded: Collection[str]) -> Iterator[Difference]:
    for gpu, most in usual.items():
        part = f"GPU {gpu}"
        if gpu not in mine:
            yield Difference(host.name, part, MISSING, "", str(most))
            continue
        active, down = mine[gpu]
        if down and host.name in minded:
            yield Difference(host.name, part, DOWN, brief(", ".join(map(str, sorted(down))), 60))
        elif active < most:
            yield Difference(host.name, part, FEWER, str(active), str(most))
    for gpu, link, said in errors(host):
        yield Difference(host.name, f"GPU {gpu} / {link}", ERRORS, said)
    for entry in map(as_dict, as_list(host.area("nvlink").get("sxids"))):
        said = brief(f"SXid {entry.get('sxid')} {entry.get('text') or ''}".strip(), 100)
        yield Difference(host.name, brief(entry.get("switch"), 30), SWITCH, said)


def _of_pairs(host: str, mine: Mapping[str, str], expected: Mapping[str, str]) -> Iterator[Difference]:
    """One for all pairs that are joined alike: one lost link is one of seven pairs."""
    found: dict[tuple[str, str], list[str]] = {}
    for pair, relation in mine.items():
        if expected[pair] != relation:
            found.setdefault((relation, expected[pair]), []).append(pair)
    for (relation, usual), some in found.items():
        yield Difference(host, brief(", ".join(some), 100), JOINED, relation, usual)


def _managers(entry: fleet.Class) -> Iterator[Difference]:
    """Hosts whose fabric manager is in another state than that of most."""
    reported = {}
    for host in entry.hosts:
        raw = host.area("nvlink").get("fabric_manager")
        if isinstance(raw, Mapping):
            reported[host.name] = brief(raw.get("state") or "?", 60)
    if not reported:
        return
    usual = _usual(Counter(reported.values()))
    for name, state in reported.items():
        if state != usual:
            yield Difference(name, "", MANAGER, state, usual)


def _usual_pairs(pairs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    counted: dict[str, Counter[str]] = {}
    for mine in pairs.values():
        for pair, relation in mine.items():
            counted.setdefault(pair, Counter())[relation] += 1
    return {pair: _usual(entry) for pair, entry in counted.items()}


def _usual(counted: Counter[str]) -> str:
    """What more than half have; "" where they differ and nobody can tell who is right."""
    value, times = counted.most_common(1)[0]
    return value if 2 * times > counted.total() else ""


def _weight(difference: Difference) -> int:
    return (MISSING, DOWN, FEWER, JOINED, ERRORS, MANAGER, SWITCH).index(difference.what)
