# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVLinks of every class of equal hosts: GPUs by links, and what differs on which host.

A run object holds of each GPU how many links are up, which are down and which count errors, how
GPUs are joined, and what NVSwitches complained of; not which NVSwitch a link leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .....module_utils._ground.check import PASS, SKIP
from . import fleet
from .nvlink_differs import Difference, differences
from .nvlink_host import STATE, Links, errors, links, minded, pairs
from .text import Names, brief, cut, names

MAPS = 12
DIFFERENCES = 100
GPUS = 16
LINKS = 36


@dataclass(frozen=True)
class Cell:
    """One link of one GPU over all hosts of the class: on how many it is up, is down, errs.

    ``unused``: down, and no check minds: boards with bridges leave links out.
    """

    up: int = 0
    down: int = 0
    errors: int = 0
    unused: int = 0


@dataclass(frozen=True)
class Map:
    """``gpus``: index -> a cell a link. ``joined``: how most pairs of GPUs are joined."""

    name: str
    hosts: Names
    gpus: list[tuple[str, list[Cell]]]
    joined: list[tuple[str, int]]
    differences: list[Difference]
    more: int = 0


@dataclass(frozen=True)
class Nvlink:
    """``without``: hosts of which it was seen that they have none to look at. ``unseen``: nobody
    could look. Both by the reason."""

    maps: list[Map]
    without: list[tuple[str, Names]]
    unseen: list[tuple[str, Names]]
    more: int = 0


def read(run: Mapping[str, Any]) -> Nvlink:
    """Of all hosts of a run object."""
    reported = []
    without: dict[str, list[str]] = {}
    unseen: dict[str, list[str]] = {}
    for host in fleet.hosts(run):
        state = next((check for check in host.checks if check.get("id") == STATE), {})
        skipped = state.get("result") == SKIP or host.area("machine").get("gpus") == []
        if any(active or down for active, down in links(host).values()):
            reported.append(host)
        elif skipped or (links(host) and state.get("result") == PASS):
            without.setdefault(brief(state.get("cause") or ""), []).append(host.name)
        else:
            unseen.setdefault(brief(state.get("cause") or ""), []).append(host.name)
    classes = fleet.classes(reported, fleet.size(run))
    return Nvlink(
        [_map(kind) for kind in classes[:MAPS]], _reasons(without), _reasons(unseen), max(0, len(classes) - MAPS)
    )


def _reasons(some: Mapping[str, list[str]]) -> list[tuple[str, Names]]:
    ordered = sorted(some.items(), key=lambda entry: -len(entry[1]))
    return [(why, names(hosts, 20)) for why, hosts in ordered[:MAPS]]


def _map(entry: fleet.Class) -> Map:
    mine = {host.name: links(host) for host in entry.hosts}
    usual = {
        gpu: _usual_count([reported[gpu][0] for reported in mine.values() if gpu in reported])
        for gpu in sorted({gpu for reported in mine.values() for gpu in reported}, key=_order)
    }
    bad = {host.name for host in entry.hosts if minded(host)}
    relations = Counter(relation for host in entry.hosts for relation in pairs(host).values())
    shown, more = cut(differences(entry, mine, usual, bad), DIFFERENCES)
    wrong = {host.name: {(gpu, link) for gpu, link, _unused in errors(host)} for host in entry.hosts}
    return Map(
        brief(entry.name),
        names(host.name for host in entry.hosts),
        [(gpu, _cells(gpu, mine, wrong, bad)) for gpu in list(usual)[:GPUS]],
        [(brief(name, 24), times) for name, times in relations.most_common(6)],
        shown,
        more,
    )


def _cells(
    gpu: str, mine: Mapping[str, Links], wrong: Mapping[str, set[tuple[str, str]]], bad: Collection[str]
) -> list[Cell]:
    """Links are numbered from 0 on; those that are not down are up."""
    up: Counter[int] = Counter()
    down: Counter[int] = Counter()
    errs: Counter[int] = Counter()
    unused: Counter[int] = Counter()
    for host, reported in mine.items():
        if gpu not in reported:
            continue
        active, lost = reported[gpu]
        every = [at for at in range(active + len(lost) + 1) if at not in lost]
        up.update(every[:active])
        (down if host in bad else unused).update(lost)
        errs.update(int(link) for of, link in wrong[host] if of == gpu and link.isdecimal())
    last = min(LINKS, 1 + max([*up, *down, *unused], default=-1))
    return [Cell(up[at], down[at], errs[at], unused[at]) for at in range(last)]


def _usual_count(some: Sequence[int]) -> int:
    """What more than half have, else the most of any."""
    value, times = Counter(some).most_common(1)[0]
    return value if 2 * times > len(some) else max(some)


def _order(gpu: str) -> tuple[int, str]:
    return (int(gpu), "") if gpu.isdecimal() else (1 << 30, gpu)
