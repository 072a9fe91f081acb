# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions are installed on how many hosts, and which of them are odd ones out.

What is odd the checks of the fleet say, which hold equal hosts against each other; what a host
without such a check has, _hosts/consistency_facts tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .....module_utils._fleet.fleet_same import HOST, NOT_INSTALLED
from .....module_utils._ground.check import FAIL, PASS, UNKNOWN, from_dict
from .....module_utils._ground.equals import NO_MAJORITY
from ...._ground.dicts import as_dict
from ...._hosts import consistency_facts
from ...._hosts.hosts import Host
from . import fleet
from .text import Names, brief, names

# Component (a word of the page) -> the check that compares it, and the area that has to be looked
# at to know it.
COMPONENTS: Mapping[str, tuple[str, str]] = {
    "os": ("", "node"),
    "kernel": ("fleet.host.kernel", "node"),
    "rdma": ("fleet.rdma.version", "stack"),
    "firmware": ("fleet.hca.firmware", "ib"),
    "driver": ("fleet.driver.version", "gpu"),
    "vbios": ("fleet.gpu.vbios", "gpu"),
    "fabric_manager": ("fleet.fabric_manager.version", "stack"),
    "nccl": ("fleet.nccl.version", "stack"),
    "container": ("fleet.container.engine", "stack"),
    "bios": ("fleet.host.bios", "machine"),
}
# Versions of a component that are shown, and hosts that are named of an odd one.
VERSIONS = 12
NAMED = 12
_RDMA = "stack.rdma.version"
# What a version is among its equals.
USUAL, ODD, SPLIT, ALONE, ABSENT = "usual", "odd", "split", "alone", "absent"


@dataclass(frozen=True)
class Version:
    """``standing``: USUAL, ODD (most equal hosts have another), SPLIT (they differ, and nobody can
    tell who is right), ALONE (nothing was compared) or ABSENT (not installed, nothing compared)."""

    text: str
    standing: str
    hosts: Names


@dataclass(frozen=True)
class Component:
    """``silent``: hosts that were asked and did not tell. ``unseen``: nobody looked there; ``dark`` of
    these were not looked at for anything, which is told among the causes."""

    name: str
    versions: list[Version]
    silent: Names
    unseen: Names
    more: int = 0
    dark: int = 0

    @property
    def odd(self) -> bool:
        """Whether hosts differ in it, or some did not tell, or it alone was not looked at."""
        differ = any(version.standing in (ODD, SPLIT) for version in self.versions)
        return differ or bool(self.silent.shown) or self.unseen.total > self.dark or not self.versions


@dataclass
class _Reported:
    versions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def read(run: Mapping[str, Any]) -> list[Component]:
    """Every component that somebody was asked for, over all hosts of a run object, or for which
    nobody was; [] where nobody told anything."""
    reported = {name: _Reported() for name in COMPONENTS}
    dark = 0
    for host in fleet.hosts(run):
        checks = {
            (str(check.get("id")), str(check.get("subject"))): check
            for check in host.checks
            if str(check.get("id")).startswith("fleet.")
        }
        told = _values(host)
        dark += all(values is None for values in told.values())
        for component, values in told.items():
            check_id = COMPONENTS[component][0]
            if values is None:
                reported[component].unseen.append(host.name)
            for subject, text in (values or {}).items():
                if not text:
                    reported[component].silent.append(host.name)
                    continue
                check = checks.get((check_id, subject), {})
                key = (text, _standing(text, check))
                mine = reported[component].versions.setdefault(key, [])
                if host.name not in mine[-1:]:
                    mine.append(host.name)
    some = {name: entry for name, entry in reported.items() if entry.versions or entry.silent or entry.unseen}
    heard = any(entry.versions or entry.silent for entry in some.values())
    return [_component(name, entry, dark) for name, entry in some.items()] if heard else []


def _standing(text: str, check: Mapping[str, Any]) -> str:
    result = check.get("result")
    if result == FAIL:
        return ODD
    if result == PASS:
        return USUAL
    if result == UNKNOWN and str(check.get("cause")).startswith(NO_MAJORITY):
        return SPLIT
    return ABSENT if text == NOT_INSTALLED else ALONE


def _component(name: str, told: _Reported, dark: int) -> Component:
    order = (ODD, SPLIT, USUAL, ALONE, ABSENT)
    versions = [
        Version(brief(text), standing, names(hosts, NAMED if standing in (ODD, SPLIT) else 0))
        for (text, standing), hosts in told.versions.items()
    ]
    # The usual one first: beside it the others are read.
    versions.sort(key=lambda version: (version.standing != USUAL, order.index(version.standing), -version.hosts.total))
    silent, unseen = (names(dict.fromkeys(some), NAMED) for some in (told.silent, told.unseen))
    return Component(name, versions[:VERSIONS], silent, unseen, max(0, len(versions) - VERSIONS), dark)


def _values(host: fleet.Seen) -> dict[str, dict[str, str] | None]:
    """By component and subject, "" where the host did not tell; None where nobody looked."""
    found: dict[str, dict[str, str] | None] = {}
    reported = _alike(host)
    own = {"os": dict(_system(host)), "kernel": dict(_kernel(host)), "firmware": _firmware(host)}
    for component, (check_id, area) in COMPONENTS.items():
        if not host.area(area):
            found[component] = None
        else:
            found[component] = own[component] if component in own else dict(reported.get(check_id, {}))
    return found


def _alike(host: fleet.Seen) -> dict[str, dict[str, str]]:
    """What consistency_facts makes of the facts; a host's nonsense is told by nobody."""
    try:
        checks = [from_dict(dict(check)) for check in host.checks if check.get("id") == _RDMA]
        return consistency_facts.facts(Host(host.name, facts=host.facts, checks=checks))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return {check_id: {HOST: ""} for check_id, _unused in COMPONENTS.values() if check_id}


def _system(host: fleet.Seen) -> Iterator[tuple[str, str]]:
    system = as_dict(host.area("node").get("os"))
    yield HOST, f"{system.get('id') or ''} {system.get('version') or ''}".strip()


def _kernel(host: fleet.Seen) -> Iterator[tuple[str, str]]:
    yield HOST, str(host.area("node").get("kernel") or "")


def _firmware(host: fleet.Seen) -> dict[str, str]:
    """Of each HCA, with its model: two models have two firmwares."""
    return {str(ca.get("name")): f"{ca.get('type') or '?'} {ca['fw']}" if ca.get("fw") else "" for ca in host.cas}
