# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a run object, in classes of equal ones; whatever has another shape is not told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .....module_utils._fleet import fleet_same
from .....module_utils._fleet.fleet_same import Kind
from ...._ground.dicts import as_dict, as_list
from ...picture.model import natural


@dataclass(frozen=True)
class Seen:
    """One host: its checks and facts, as the run object has them."""

    name: str
    checks: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def area(self, name: str) -> Mapping[str, Any]:
        """The facts of one area; {} where nobody looked."""
        return as_dict(self.facts.get(name))

    @property
    def cas(self) -> list[Mapping[str, Any]]:
        """The HCAs on the fabric, as ibstat told them."""
        ib = self.area("ib")
        devices = as_dict(ib.get("devices"))
        apart = {
            name
            for name, device in devices.items()
            if as_dict(device).get("kind") or as_dict(device).get("manages_switches")
        }
        return [entry for entry in map(as_dict, as_list(ib.get("cas"))) if str(entry.get("name")) not in apart]


@dataclass(frozen=True)
class Class:
    """Hosts that should be alike, in a readable order."""

    name: str
    hosts: tuple[Seen, ...]


def hosts(run: Mapping[str, Any]) -> list[Seen]:
    """Every host, node2 before node10."""
    reported = as_dict(run.get("hosts"))
    found = (
        Seen(
            str(name),
            [as_dict(check) for check in as_list(as_dict(entry).get("checks"))],
            as_dict(as_dict(entry).get("facts")),
        )
        for name, entry in reported.items()
    )
    return sorted(found, key=lambda item: natural(item.name))


def classes(some: Sequence[Seen], size: int) -> list[Class]:
    """These hosts by what they are, the biggest class first. ``size``: hosts of the inventory."""
    kinds = {entry.name: kind(entry) for entry in some}
    found = []
    for group in fleet_same.groups(kinds, size):
        mine = set(group.hosts)
        named = Counter(kinds[name] for name in group.hosts).most_common(1)[0][0]
        found.append(Class(str(named), tuple(entry for entry in some if entry.name in mine)))
    return sorted(found, key=lambda item: (-len(item.hosts), item.name))


def kind(seen: Seen) -> Kind:
    """What a host is, as consistency.kind has it of a host that takes part in a run."""
    machine = seen.area("machine")
    system = as_dict(seen.area("node").get("os"))
    product = machine.get("product")
    return Kind(
        f"{product} {machine.get('arch') or ''}".strip() if product else "",
        f"{system.get('id', '')} {system.get('version', '')}".strip(),
        frozenset(str(gpu) for gpu in as_list(machine.get("gpus")) if gpu),
        frozenset(str(ca["type"]) for ca in seen.cas if ca.get("type")),
    )


def size(run: Mapping[str, Any]) -> int:
    """How many hosts the inventory has."""
    reported = as_dict(run.get("run")).get("size")
    here = len(as_dict(run.get("hosts")))
    return max(here, reported) if isinstance(reported, int) else here
