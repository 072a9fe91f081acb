# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts are equal, and what they should have alike, held against what most of them have; no I/O."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, Mapping

from .._data.host_resources import HOST_LACKS
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.equals import MIN_EQUALS, NO_MAJORITY, SAY_WHICH, most_have
from .._ground.text import few

MIN_FLEET = MIN_EQUALS
ONE_HOST = "one host: no other to compare with"
# Of a host that is the only one to tell.
NO_OTHER = "no other host told, so there is nothing to compare with"
ASK_OTHERS = "fix what kept the others from telling, or verify with them (without --limit)"
# Of hosts that all have none of it nothing is compared.
NOT_INSTALLED = "not installed"
NONE = "none"
_SILENT = "the host did not tell"
_ASK_FIRST = "fix what kept the host from telling it, then verify again"
_SHOWN = 4
HOST = "host"
Facts = Dict[str, Dict[str, str]]


@dataclass(frozen=True)
class Kind:
    """What a host is, whatever is right or wrong with it. ``product``: the machine's name and its
    processors; ``system``: id and version of its distribution; models of GPUs and HCAs, however
    many there are of each. "" and empty: not told, or none."""

    product: str = ""
    system: str = ""
    gpus: frozenset[str] = frozenset()
    hcas: frozenset[str] = frozenset()

    def __str__(self) -> str:
        parts = (self.product, self.system, *sorted(self.gpus), *sorted(self.hcas))
        return ", ".join(part for part in parts if part) or "nothing told of its hardware"

    def likeness(self, other: Kind) -> int:
        """How many of the three that may differ within one product are the same."""
        return (self.system == other.system) + (self.gpus == other.gpus) + (self.hcas == other.hcas)


@dataclass(frozen=True)
class Group:
    """Hosts that should be alike. ``alone``: why one of them has nothing to be compared with where
    no other is here; "" where others should be."""

    hosts: tuple[str, ...]
    alone: str = ""


def groups(kinds: Mapping[str, Kind], size: int) -> list[Group]:
    """Every host in one group. ``size``: how many hosts the inventory has.

    Three of one kind are a class of their own, and two that run another distribution than all such
    classes of their product, where they are a quarter of its hosts: that is no oversight. Fewer
    join the class of their product that they are most like (the biggest of equally like ones), for
    what makes them another kind may be what is wrong with them; where there is no such class, all
    of them are one group.
    """
    counted = Counter(kinds.values())
    classes: dict[str, list[Kind]] = {}
    for kind, times in counted.items():
        if times >= MIN_FLEET:
            classes.setdefault(kind.product, []).append(kind)
    products = Counter(kind.product for kind in kinds.values())
    home: dict[Kind, object] = {}
    for kind in counted:
        others = {entry.system for entry in classes.get(kind.product, ())}
        many = counted[kind] > 1 and 4 * counted[kind] >= products[kind.product]
        if counted[kind] >= MIN_FLEET or (many and others and kind.system not in {"", *others}):
            home[kind] = kind
        elif kind.product in classes:
            mine = classes[kind.product]
            home[kind] = max(mine, key=lambda entry: (kind.likeness(entry), counted[entry], str(entry)))
        else:
            home[kind] = kind.product
    members: dict[object, list[str]] = {}
    for host, kind in kinds.items():
        members.setdefault(home[kind], []).append(host)
    whole = len(kinds) >= size
    return [Group(tuple(some), _alone(some, kinds, size, whole)) for some in members.values()]


def _alone(hosts: list[str], kinds: Mapping[str, Kind], size: int, whole: bool) -> str:
    if size == 1:
        return ONE_HOST
    kind = kinds[hosts[0]]
    # A host that did not say what it is may have equals.
    if len(hosts) > 1 or not whole or not kind.product:
        return ""
    return f"no other host of the inventory is of its kind: {kind}"


def same(
    check_id: str,
    subject: str,
    values: Mapping[str, str],
    checks: dict[str, list[Check]],
    group: Group,
    ask_first: str = _ASK_FIRST,
) -> None:
    """Add to ``checks`` of every host in ``values`` whether it has what most of them have.

    ``values``: of hosts of ``group``. "" is the value of a host that did not tell; ``ask_first`` is
    what to do about that. A host without a value has nothing of the kind. A value of several lines
    is many settings: told by its digest, and by the lines that differ.
    """
    known = {host: value for host, value in values.items() if value}
    counted = Counter(known.values())
    if len(known) == len(values) and not counted.keys() - {NOT_INSTALLED, NONE}:
        return
    majority = most_have(list(known.values()))
    if majority is None and len(counted) == 1 and len(known) > 1:
        # Two that are equal agree.
        majority = (next(iter(counted)), len(known))
    for host, value in values.items():
        if not value:
            checks[host].append(unknown(check_id, subject, _SILENT, remedy=ask_first))
        elif len(known) == 1:
            checks[host].append(_single(check_id, subject, value, values, group))
        elif majority is None:
            checks[host].append(_no_majority(check_id, subject, value, counted))
        else:
            usual, times = majority
            source = f"fleet {times}/{len(known)}"
            if value == usual:
                checks[host].append(passed(check_id, subject, shown(value), shown(usual), source))
            else:
                checks[host].append(failed(check_id, subject, shown(value, usual), shown(usual, value), source))


def _single(check_id: str, subject: str, value: str, values: Mapping[str, str], group: Group) -> Check:
    """The only host that told of it."""
    if group.alone:
        return skipped(check_id, subject, group.alone)
    if len(values) == 1 and len(group.hosts) > 1:
        return skipped(check_id, subject, "none of its equals has it")
    return unknown(check_id, subject, NO_OTHER, observed=shown(value), remedy=ASK_OTHERS)


def shown(value: str, other: str = "") -> str:
    """One line as it is; of several their number and digest, and those that ``other`` has not."""
    if "\n" not in value and "\n" not in other:
        return value
    lines = value.split("\n")
    digest = hashlib.sha256(value.encode()).hexdigest()[:12]
    own = [line for line in lines if line not in other.split("\n")] if other else []
    differing = f": {few(own, _SHOWN, '; ')}" if own else ""
    return f"{len(lines)} lines, digest {digest}{differing}"


def _usual(counted: Counter[str]) -> str:
    """What a value is told against where there is no majority: the two most frequent ones differ
    somewhere, and that is what people want to see."""
    return counted.most_common(1)[0][0]


def _no_majority(check_id: str, subject: str, value: str, counted: Counter[str]) -> Check:
    why = NO_MAJORITY + few([f"{shown(text)} on {times}" for text, times in counted.most_common()], _SHOWN)
    return unknown(check_id, subject, why, observed=shown(value, _usual(counted)), remedy=SAY_WHICH)


@dataclass(frozen=True)
class Consistency:
    """What of one host is compared. ``facts``: by check and subject, "" where it did not tell,
    nothing where it has none of it. ``memory``: MiB, 0 where it did not tell, None where nobody asked."""

    kind: Kind = field(default_factory=Kind)
    facts: Facts = field(default_factory=dict)
    memory: int | None = None


def judge(hosts: Mapping[str, Consistency], size: int) -> dict[str, list[Check]]:
    """The facts of every host. ``size`` is how many hosts the inventory has."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups({host: entry.kind for host, entry in hosts.items()}, size):
        reported: dict[tuple[str, str], dict[str, str]] = {}
        for host in group.hosts:
            for check_id, subjects in hosts[host].facts.items():
                for subject, value in subjects.items():
                    reported.setdefault((check_id, subject), {})[host] = value
        for (check_id, subject), values in sorted(reported.items()):
            same(check_id, subject, values, checks, group)
        sizes = {host: memory for host in group.hosts if (memory := hosts[host].memory) is not None}
        same("fleet.host.memory", HOST, _rounded(sizes), checks, group)
    return checks


def _rounded(sizes: Mapping[str, int]) -> dict[str, str]:
    """One text for all sizes that differ by no more than kernel and firmware keep: the largest of them."""
    found: dict[str, str] = {}
    largest = 0
    for host, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size < (1 - HOST_LACKS) * largest or not largest:
            largest = size
        found[host] = f"{largest / 1024:.1f} GiB" if size else ""
    return found
