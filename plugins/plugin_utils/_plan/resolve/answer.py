# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolver's three answers for one platform: known, allowed, or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from ....module_utils._data.gpudirect import ACCEPTED
from ....module_utils._parse.version_text import fits
from ..matrix.model import Fact, Matrix
from . import hardware, refuse, rules_release
from .candidates import Candidate, candidates
from .collision import WARN, Collision
from .found import FOLLOWS, stays
from .platform import Platform
from .policy import ACCEPT, AUTO, DEFAULT, DISTRIBUTION, FOUND, NONE, PREFIX, Policy, PolicyError
from .refuse import Refusal
from .rules import Rules
from .solve import Unsolvable, solve

KNOWN = "known"
ALLOWED = "allowed"
# A stack that somebody shipped is not chosen by itself if it got old, has a hole, or never was final.
_NOT_BY_ITSELF = ("DRIVER_EOL", "RDMA_EOL", "RDMA_PRERELEASE", "SECURITY")
# Of the driver's very version, or of no package.
_IMPLIED = ("peer_memory", "fabric_manager", "nscq", "imex")
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
    rules = Rules(host, matrix.taking(policy.accept.split()), today)
    try:
        return _find(rules, policy, policy)
    except Unsolvable:

        def again(loosened: Policy) -> dict[str, Any] | None:
            try:
                return _find(rules, loosened, policy).stack
            except Unsolvable:
                return None

        return refuse.explain(rules, policy, again)


def _find(rules: Rules, policy: Policy, wish: Policy) -> Answer:
    chosen, warnings = _choose(rules, policy, wish)
    closed = hardware.closed(rules.host.gpus, rules.matrix) if rules.host.rails else ""
    stack = _as_stack(chosen, closed)
    known_by = _who_shipped(chosen, rules.host, rules.matrix)
    empty = "" if stack else f"nothing to install: {nothing(rules.host.gpus, rules.host.hcas)}"
    because = [empty or known_by or "breaks no confirmed rule of the matrix"]
    because += [] if known_by else _mostly_shipped(chosen, rules.host, rules.matrix)
    because += _reasons(chosen)
    because += _staying(chosen, rules.host)
    because += [closed] if closed and "peer_memory" in stack else []
    because += _goes_by(rules)
    because += [f"mind {warning}" for warning in warnings]
    because += _dropped(wish, rules)
    return Answer(KNOWN if known_by else ALLOWED, stack, because, warnings)


def nothing(gpus: Collection[str], hcas: Collection[str]) -> str:
    """Why the plan of hosts with these GPUs and HCAs has no part at all."""
    driver = f"{PREFIX}driver is {NONE}" if gpus else "no NVIDIA GPU is on the PCI bus"
    rdma = f"{PREFIX}rdma_flavour is {NONE}" if hcas else "no HCA is there"
    return f"{driver}, and {rdma}"


def _choose(rules: Rules, policy: Policy, wish: Policy) -> tuple[dict[str, Candidate], list[Collision]]:
    """The youngest shipped stack that goes and has not got old, else what the solver prefers."""
    for narrowed in _shipped(rules.host, policy, rules.matrix):
        if any(_past(part, narrowed, rules) for part in ("rdma", "driver")):
            continue
        try:
            chosen = solve(rules, narrowed, wish)
        except Unsolvable:
            continue
        warnings = rules.within(chosen)
        if all(warning.rule not in _NOT_BY_ITSELF for warning in warnings):
            return chosen, warnings
    chosen = solve(rules, policy, wish)
    return chosen, rules.within(chosen)


def _past(part: str, policy: Policy, rules: Rules) -> bool:
    """Whether a part could only be what is not chosen by itself."""
    about = [rules.about(candidate) for candidate in candidates(part, rules.host, policy, rules.matrix)]
    return all(any(each.rule in _NOT_BY_ITSELF for each in broken) for broken in about)


def _shipped(host: Platform, policy: Policy, matrix: Matrix) -> Iterator[Policy]:
    """The policy narrowed to each known stack of this system that it leaves open."""
    for fact in _stacks_of(host, matrix):
        try:
            wishes = _wishes(fact, host, policy, matrix).items()
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
        kind = entry.fact.get("kind", "unknown").replace("unknown", "")
        kind = kind or ("long term support" if entry.fact.get("lts") else "")
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


def _goes_by(rules: Rules) -> Iterator[str]:
    """GPUs that no table names, and what their generation says of them."""
    for gpu in rules.host.gpus:
        fact = hardware.generation(gpu, "gpus", rules.matrix)
        if fact is not None and ":" in gpu and hardware.model(gpu, rules.matrix) is None:
            words = [f"{key} {fact.get(key)}" for key in ("driver", "cuda", "nccl") if fact.get(key)]
            modules = " or ".join(fact.get("modules"))
            yield f"{gpu} goes by its generation, {fact.name}: {', '.join(words)}, {modules} modules ({fact.source})"


def _dropped(wish: Policy, rules: Rules) -> Iterator[str]:
    """Wishes of which nothing comes: what they belong to is not wished for, or no rule is called so."""
    facts, host = rules.matrix.all("rules.rules"), rules.host
    strange = [name for name in wish.accept.split() if facts.get(name) is None or facts[name].get("effect") != WARN]
    yield from (f"mind {PREFIX}{ACCEPT} {name}: no rule of this name takes a word" for name in strange)
    for name, value in wish.pins():
        owner = _COMES_WITH.get(name)
        kept = FOLLOWS.get(name)
        if kept and value != FOUND and stays(kept, wish):
            part = kept.replace("rdma", "RDMA stack")
            yield f"mind {PREFIX}{name} {value} comes to nothing, because the {part} stays as it was found"
        elif owner and value != NONE and getattr(wish, owner) == NONE and (owner != "driver" or host.gpus):
            yield f"mind {PREFIX}{name} {value} comes to nothing, because {PREFIX}{owner} is {NONE}"


def _as_stack(chosen: dict[str, Candidate], closed: str) -> dict[str, Any]:
    """Parts that are absent are left out; versions are texts. ``closed``: why no HCA reaches the GPUs."""
    found: dict[str, Any] = {}
    for part, entry in chosen.items():
        if part == "peer_memory":
            if not chosen["driver"].absent and not chosen["rdma"].absent:
                found[part] = {"method": entry.method or NONE}
                if entry.absent and (entry.pinned or closed):
                    found[part][ACCEPTED] = closed or f"{PREFIX}{part}"
        elif entry.absent:
            continue
        else:
            found[part] = entry.fields
            if part == "rdma" and entry.fact and entry.fact.get("nic_driver"):
                found[part]["nic_driver"] = entry.fact.get("nic_driver")
            found[part].update({"signed": entry.flavour} if entry.signed else {})
        if entry.found:
            found[part]["found"] = entry.found
    return found


def _stacks_of(host: Platform, matrix: Matrix) -> list[Fact]:
    """The stacks that somebody shipped for this system, or for containers on any, the youngest first.

    Nobody shipped one for a GPU of which nothing is known.
    """
    if any(hardware.said(gpu, "driver", matrix) is None for gpu in host.gpus):
        return []
    fitting = [
        fact
        for fact in matrix.all("stacks.stacks").values()
        if fact.get("system", host.system) == host.system and (fact.get("rdma") or not host.hcas)
    ]
    return sorted(fitting, key=lambda fact: str(fact.get("date")), reverse=True)


def _made_for(host: Platform, matrix: Matrix) -> list[Fact]:
    """Those of them that say they were made for this processor and the generation of these GPUs."""
    kinds = {fact.name if fact else "" for fact in (hardware.generation(gpu, "gpus", matrix) for gpu in host.gpus)}
    return [
        fact
        for fact in _stacks_of(host, matrix)
        if fact.get("system") and host.arch in fact.get("arch", ()) and kinds <= set(fact.get("generations", ()))
    ]


def _wishes(fact: Fact, host: Platform, policy: Policy, matrix: Matrix) -> dict[str, str]:
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
    # Of a driver with a hole its branch is what they trusted.
    driver = found.get("driver", "")
    holed = any(rules_release.affected("driver", driver, hole) for hole in matrix.all("security.holes").values())
    return {**found, "driver": driver.partition(".")[0]} if driver and holed else found


def _who_shipped(chosen: dict[str, Candidate], host: Platform, matrix: Matrix) -> str:
    """Who put this very stack together for such a host, in words; "" where nobody is known to have."""
    parts = _parts(chosen)
    for fact in _made_for(host, matrix) if parts and host.known_gpus == host.gpus else ():
        if _named(fact, chosen) == parts:
            return f"shipped{' together' if len(parts) > 1 else ''}: {fact.source}, {fact.get('date')}"
    rdma = chosen["rdma"]
    if parts == ["rdma"] and rdma.fact is not None and host.is_like(rdma.fact.get("tested_systems", [])):
        return f"its vendor tested {rdma} on {host.system}: {rdma.fact.source}"
    return ""


def _mostly_shipped(chosen: dict[str, Candidate], host: Platform, matrix: Matrix) -> Iterator[str]:
    """Which parts of it somebody shipped together, and what came from elsewhere."""
    parts = _parts(chosen)
    named = [(fact, _named(fact, chosen)) for fact in _made_for(host, matrix)]
    fact, most = max(named, key=lambda each: len(each[1]), default=(None, []))
    if fact is not None and len(most) > 1:
        others = ", ".join(part.replace("_", " ") for part in parts if part not in most)
        yield f"{', '.join(most)} as in {fact.source}, {fact.get('date')}; {others or 'the GPUs'} not of it"


def _parts(chosen: dict[str, Candidate]) -> list[str]:
    return [part for part, entry in chosen.items() if not entry.absent and part not in _IMPLIED]


def _named(fact: Fact, chosen: dict[str, Candidate]) -> list[str]:
    """The parts of a stack that were shipped so; what is known was shipped with packages of NVIDIA's."""
    if chosen["driver"].flavour == DISTRIBUTION:
        return []
    return [part for part in _parts(chosen) if _same(fact, chosen[part])]


def _same(fact: Fact, candidate: Candidate) -> bool:
    named = fact.get(candidate.part)
    if not named:
        return False
    if candidate.part == "rdma":
        return (named["flavour"], named["version"]) == (candidate.flavour, candidate.version)
    return fits(candidate.version, named)
