# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is compared with whom: hosts in, groups of equal ones out, no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Mapping

# Two hosts that differ have no majority; design 4.2.
MIN_FLEET = 3
ONE_HOST = "one host: no other to compare with"


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

    Three of one kind are a class of their own. Fewer join the class of their product that they are
    most like (the biggest of equally like ones), for what makes them another kind may be what is
    wrong with them; where there is no such class, all of them are one group.
    """
    counted = Counter(kinds.values())
    classes: dict[str, list[Kind]] = {}
    for kind, times in counted.items():
        if times >= MIN_FLEET:
            classes.setdefault(kind.product, []).append(kind)
    home: dict[Kind, object] = {}
    for kind in counted:
        if counted[kind] >= MIN_FLEET:
            home[kind] = kind
        elif kind.product in classes:
            mine = classes[kind.product]
            home[kind] = max(mine, key=lambda one: (kind.likeness(one), counted[one], str(one)))
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
