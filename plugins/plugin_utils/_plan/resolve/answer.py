# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolver's three answers for one platform: known, allowed, or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from ....module_utils._data.gpudirect import ACCEPTED
from ....module_utils._parse.version_text import fits
from ..matrix.model import Fact, Matrix
from . import refuse
from .candidates import Candidate
from .collision import Collision
from .found import FOLLOWS, stays
from .platform import Platform
from .policy import AUTO, DEFAULT, DISTRIBUTION, FOUND, NONE, PREFIX, Policy, PolicyError
from .refuse import Refusal
from .rules import Rules
from .solve import Unsolvable, solve

KNOWN = "known"
ALLOWED = "allowed"
# A stack that somebody shipped is not chosen by itself if it got old, or never was final.
_NOT_BY_ITSELF = ("DRIVER_EOL", "RDMA_EOL", "RDMA_PRERELEASE", "RDMA_PATCH")
_NO_PACKAGES = ("RDMA_SYSTEM", "DRIVER_SYSTEM", "DRIVER_ARCHIVE")
_VERSIONS = ("driver", "cuda", "nccl", "container_toolkit", "dcgm", "gdrcopy", "gds")
# Parts that a site asks for by itself: a stack that was shipped with them may be had without.
_ASKED_FOR = ("dcgm", "gdrcopy", "gds")
# Wishes that come to nothing without another.
_COMES_WITH = {
    "rdma_version": "rdma_flavour",
    **dict.fromkeys(
        ("driver_modules", "driver_flavour", "fabric_manager", "nscq", "imex", "nvlsm", "cuda", "nccl"), "driver"
    ),
    **dict.fromkeys((*_ASKED_FOR, "peer_memory"), "driver"),
}


@dataclass(frozen=True)
class Answer:
    """A stack that may be installed. ``stack``: as in the lock; ``because``: one reason a line."""

    verdict: str
    stack: dict[str, Any]
    because: list[str] = field(default_factory=list)
    warnings: list[Collision] = field(default_factory=list)


def resolve(host: Platform, policy: Policy, matrix: Matrix, today: str) -> Answer | Refusal:
    """The stack for a platform under a policy. Pure; ``today`` is YYYY-MM-DD."""
    rules = Rules(host, matrix, today)
    try:
        return _find(rules, policy, policy)
    except Unsolvable:

        def again(loosened: Policy) -> dict[str, Any] | None:
            try:
                found = _find(rules, loosened, policy)
            except Unsolvable:
                return None
            # What may have no packages here is no help.
            return None if {warning.rule for warning in found.warnings} & set(_NO_PACKAGES) else found.stack

        return refuse.explain(rules, policy, again)


def _find(rules: Rules, policy: Policy, wish: Policy) -> Answer:
    chosen, warnings = _choose(rules, policy, wish)
    stack = _as_stack(chosen)
    known_by = _who_shipped(chosen, rules.host, rules.matrix) if stack else ""
    empty = "" if stack else f"nothing to install: {nothing(rules.host.gpus, rules.host.hcas)}"
    because = [empty or known_by or "breaks no confirmed rule of the matrix"]
    because += _reasons(chosen)
    because += _staying(chosen, rules.host)
    because += [f"mind {warning}" for warning in warnings]
    because += _dropped(wish, rules.host)
    return Answer(KNOWN if known_by else ALLOWED, stack, because, warnings)


def nothing(gpus: Collection[str], hcas: Collection[str]) -> str:
    """Why the plan of hosts with these GPUs and HCAs has no part at all."""
    driver = f"{PREFIX}driver is {NONE}" if gpus else "no NVIDIA GPU is on the PCI bus"
    rdma = f"{PREFIX}rdma_flavour is {NONE}" if hcas else "no HCA is there"
    return f"{driver}, and {rdma}"


def _choose(rules: Rules, policy: Policy, wish: Policy) -> tuple[dict[str, Candidate], list[Collision]]:
    """The youngest shipped stack that goes and has not got old, else what the solver prefers."""
    for narrowed in _shipped(rules.host, policy, rules.matrix):
        try:
            chosen = solve(rules, narrowed, wish)
        except Unsolvable:
            continue
        warnings = rules.within(chosen)
        if all(warning.rule not in _NOT_BY_ITSELF for warning in warnings):
            return chosen, warnings
    chosen = solve(rules, policy, wish)
    return chosen, rules.within(chosen)


def _shipped(host: Platform, policy: Policy, matrix: Matrix) -> Iterator[Policy]:
    """The policy narrowed to each known stack of this system that it leaves open."""
    for fact in _stacks_of(host, matrix):
        try:
            wishes = _wishes(fact, host, policy).items()
            yield policy.and_also(
                **{name: value for name, value in wishes if not stays(FOLLOWS.get(name, name), policy)}
            )
        except PolicyError:
            continue


def _reasons(chosen: dict[str, Candidate]) -> Iterator[str]:
    for part in ("rdma", "driver"):
        entry = chosen[part]
        if entry.fact is None:
            continue
        until = entry.fact.get("eol")
        kind = entry.fact.get("kind") or ("long term support" if entry.fact.get("lts") else "")
        words = ", ".join(word for word in (kind, f"supported until {until}" if until else "") if word)
        if words:
            yield f"{entry}: {words}"


def _staying(chosen: dict[str, Candidate], host: Platform) -> Iterator[str]:
    """What is left as it is, and what is not there and does not come."""
    there = [str(entry) for entry in chosen.values() if entry.found]
    if there:
        yield f"stays as it was found: {', '.join(there)}"
    left = [part for part in ("nccl", "container_toolkit") if chosen[part].stays and chosen[part].absent and host.gpus]
    if left:
        yield f"not there, and not brought ({PREFIX}{DEFAULT} is {FOUND}): {', '.join(left)}"


def _dropped(wish: Policy, host: Platform) -> Iterator[str]:
    """Wishes of which nothing comes, because what they belong to is not wished for."""
    for name, value in wish.pins():
        owner = _COMES_WITH.get(name)
        kept = FOLLOWS.get(name)
        if kept and value != FOUND and stays(kept, wish):
            part = kept.replace("rdma", "RDMA stack")
            yield f"mind {PREFIX}{name} {value} comes to nothing, because the {part} stays as it was found"
        elif owner and value != NONE and getattr(wish, owner) == NONE and (owner != "driver" or host.gpus):
            yield f"mind {PREFIX}{name} {value} comes to nothing, because {PREFIX}{owner} is {NONE}"


def _as_stack(chosen: dict[str, Candidate]) -> dict[str, Any]:
    """Parts that are absent are left out; versions are texts."""
    found: dict[str, Any] = {}
    for part, entry in chosen.items():
        if part == "peer_memory":
            if not chosen["driver"].absent and not chosen["rdma"].absent:
                found[part] = {"method": entry.method or NONE}
                if entry.absent and entry.pinned:
                    found[part][ACCEPTED] = f"{PREFIX}{part}"
        elif entry.absent:
            continue
        elif part == "rdma":
            found[part] = _rdma(entry)
        elif part == "driver":
            found[part] = {"branch": entry.branch, "version": entry.version, "modules": entry.modules}
            found[part].update({"flavour": entry.flavour} if entry.flavour else {})
            found[part].update({"signed": entry.flavour} if entry.signed else {})
        elif part == "nccl":
            found[part] = {"version": entry.version, "cuda": entry.cuda}
        else:
            found[part] = {"version": entry.version}
        if entry.found:
            found[part]["found"] = entry.found
    return found


def _rdma(candidate: Candidate) -> dict[str, str]:
    said = {"flavour": candidate.flavour, "version": candidate.version}
    driver = candidate.fact.get("nic_driver") if candidate.fact else ""
    if driver:
        said["nic_driver"] = driver
    return {key: value for key, value in said.items() if value}


def _stacks_of(host: Platform, matrix: Matrix) -> list[Fact]:
    """The stacks that would make this host's plan known, the youngest first.

    Nobody shipped one for a GPU that nobody knows.
    """
    if host.known_gpus != host.gpus:
        return []
    fitting = [
        fact
        for fact in matrix.all("stacks.stacks").values()
        if fact.get("system") in (None, host.system) and (fact.get("rdma") or not host.hcas)
    ]
    return sorted(fitting, key=lambda fact: str(fact.get("date")), reverse=True)


def _wishes(fact: Fact, host: Platform, policy: Policy) -> dict[str, str]:
    """The stack as a policy, for what this host has a use for and the site does not do without."""
    found: dict[str, str] = {}
    rdma = fact.get("rdma")
    if rdma and (host.hcas or host.nvlsm):
        found = {"rdma_flavour": rdma["flavour"], "rdma_version": rdma["version"]}
    if host.gpus:
        unwanted = {NONE} if policy.driver != NONE else {NONE, AUTO}
        named = [
            version
            for version in _VERSIONS
            if version not in _ASKED_FOR and fact.get(version) and getattr(policy, version) not in unwanted
        ]
        found.update({entry: fact.get(entry) for entry in named})
    return found


def _who_shipped(chosen: dict[str, Candidate], host: Platform, matrix: Matrix) -> str:
    """Who put this stack together, in words; "" where nobody is known to have.

    A shipped stack has to hold all parts of this one that it names, and the driver.
    """
    rdma, alone = chosen["rdma"], chosen["driver"].absent
    if chosen["driver"].flavour == DISTRIBUTION:
        return ""  # Those that are known were shipped with packages of NVIDIA's.
    shipped = "shipped" if alone else "shipped together"
    for fact in _stacks_of(host, matrix):
        if _same_rdma(fact, rdma) and all(_same(fact, chosen[version]) for version in _VERSIONS):
            return f"{shipped}: {fact.source}, {fact.get('date')}"
    tested = rdma.fact.get("tested_systems", []) if rdma.fact else []
    if alone and host.is_like(tested) and rdma.fact is not None:
        return f"its vendor tested {rdma} on {host.system}: {rdma.fact.source}"
    return ""


def _same_rdma(fact: Fact, candidate: Candidate) -> bool:
    named = fact.get("rdma")
    if candidate.absent:
        return True
    return bool(named) and (named["flavour"], named["version"]) == (candidate.flavour, candidate.version)


def _same(fact: Fact, candidate: Candidate) -> bool:
    named = fact.get(candidate.part)
    if candidate.absent or not named:
        return candidate.part != "driver" or bool(named)
    return fits(candidate.version, named)
