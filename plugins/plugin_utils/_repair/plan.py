# SPDX-License-Identifier: GPL-3.0-or-later
"""Which acts of a diagnosis are done now, and why the others are not; no I/O.

A plan ends: every act that is done counts as a try of its cause on its host, and a cause that was tried as often as it
may be is left to hands, whatever became of it (tests/unit/plugins/plugin_utils/repair searches all its states).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .._diagnose.acts import CONSENTS
from .._diagnose.row import ActKind

Key = tuple[str, str]
_AGAIN = "run this again once it is given back"
# The numbers that a site may set (repair_NAME), and what they are where it does not.
NUMBERS = {"hosts": 1, "per_leaf": 1, "tries": 2, "days": 7}


@dataclass(frozen=True)
class Limits:
    """What a site allows. ``allow``: kinds of acts, by host. ``hosts``: how many hosts may be disrupted at once,
    ``per_leaf``: and how many below one leaf switch. ``tries``: how often a cause is tried on a host. ``drain``: the
    hosts of which the site said how jobs are brought off them (ibready_drain)."""

    allow: Mapping[str, Collection[str]] = field(default_factory=dict)
    hosts: int = 1
    per_leaf: int = 1
    tries: int = 2
    drain: Collection[str] = ()


@dataclass(frozen=True)
class Step:
    """One act that is done. ``words``: none for a converge. ``checks``: those that showed the cause on this host."""

    host: str
    cause: str
    title: str
    kind: str
    words: Sequence[str]
    consents: Sequence[str]
    drains: bool
    undo: str
    checks: Sequence[str]


@dataclass(frozen=True)
class Held:
    """One act that is not done, and why."""

    host: str
    cause: str
    title: str
    kind: str
    words: Sequence[str]
    why: str
    next: str
    # Whether only hands are left.
    hands: bool = False


@dataclass(frozen=True)
class Plan:
    """Steps in the order in which each host takes them."""

    steps: Sequence[Step] = ()
    held: Sequence[Held] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass
class _Budget:
    limits: Limits
    places: Mapping[str, Mapping[str, Any]]
    disrupted: list[str] = field(default_factory=list)

    def refused(self, host: str) -> tuple[str, str] | None:
        """Why this host may not be disrupted now, and what to do; None where it may, which is taken."""
        if host in self.disrupted:
            return None
        if host not in self.limits.drain:
            return "nobody said how jobs are brought off it", "set ibready_drain (docs/rolling.md)"
        place = self.places.get(host)
        if place is None or place["manager"] is None:
            return (
                "nobody knows whether its fabric's subnet manager is on it",
                "have its ports answered first (fabric.sm.*)",
            )
        if place["manager"]:
            return "the subnet manager of its fabric is on it", "have another host take that over, or do it by hand"
        if len(self.disrupted) >= self.limits.hosts:
            return f"{', '.join(self.disrupted)} first: repair_hosts is {self.limits.hosts}", _AGAIN
        beside = [name for name in self.disrupted if self._may_share(host, name)]
        if len(beside) >= self.limits.per_leaf:
            return f"{', '.join(beside)} first, below the same leaf switch as far as anybody knows", _AGAIN
        self.disrupted.append(host)
        return None

    def _may_share(self, host: str, other: str) -> bool:
        """Whether both hang on a leaf; one of which nobody knows the leaf may hang on any."""
        mine, theirs = (set(self.places.get(name, {}).get("leaves", ())) for name in (host, other))
        return not mine or not theirs or bool(mine & theirs)


def plan(
    causes: Sequence[Mapping[str, Any]],
    places: Mapping[str, Mapping[str, Any]],
    kinds: Mapping[str, ActKind],
    limits: Limits,
    tried: Mapping[Key, int],
    out: Collection[str] = (),
) -> Plan:
    """The acts of the causes, likeliest first, as far as these limits go.

    ``causes``: as the diagnosis tells them. ``kinds``: in the order of acts on a host. ``tried``: how often each cause
    was tried on each host. ``out``: hosts that an earlier run disrupted and could not give back; those that still have
    a cause count as disrupted.
    """
    steps: list[Step] = []
    held: list[Held] = []
    ill = {host for cause in causes for host in cause["hosts"]}
    budget = _Budget(limits, places, sorted(ill.intersection(out)))
    for cause in causes:
        for act in cause["acts"]:
            why = _why_not(act, str(cause["id"]), kinds, limits, tried, budget)
            if why is not None:
                told = (act["host"], cause["id"], cause["title"], act["kind"], act["words"])
                held.append(Held(*told, *why))
                continue
            needed = _needed(act)
            steps.append(
                Step(
                    host=act["host"],
                    cause=cause["id"],
                    title=cause["title"],
                    kind=act["kind"],
                    words=act["words"],
                    consents=act["consents"],
                    drains=any(kinds[kind].drains for kind in needed),
                    undo=kinds[act["kind"]].undo,
                    checks=_checks(cause, act["host"]),
                )
            )
    order = list(kinds)
    return Plan(sorted(steps, key=lambda step: order.index(step.kind)), held)


def _checks(cause: Mapping[str, Any], host: str) -> list[str]:
    return list(dict.fromkeys(entry["check"] for entry in cause["evidence"] if entry["host"] == host))


def _needed(act: Mapping[str, Any]) -> list[str]:
    return [act["kind"], *(CONSENTS[name] for name in act["consents"])]


def _why_not(
    act: Mapping[str, Any],
    cause: str,
    kinds: Mapping[str, ActKind],
    limits: Limits,
    tried: Mapping[Key, int],
    budget: _Budget,
) -> tuple[str, str] | tuple[str, str, bool] | None:
    if act["choices"]:
        return f"only the site can say {', '.join(act['choices'])}", "say it in the inventory, and converge"
    times = tried.get((act["host"], cause), 0)
    if times >= limits.tries:
        return f"it was tried {times} times and came again", "fix it by hand (its ticket)", True
    missing = [kind for kind in dict.fromkeys(_needed(act)) if kind not in limits.allow.get(act["host"], ())]
    if missing:
        says = "; ".join(kinds[kind].says for kind in missing)
        return f"not allowed: {says}", f"add {', '.join(missing)} to repair_allow"
    if any(kinds[kind].drains for kind in _needed(act)):
        return budget.refused(act["host"])
    return None


def by_host(planned: Plan, converge: str) -> dict[str, dict[str, Any]]:
    """What is done on each host: commands before its converge and after it."""
    found: dict[str, dict[str, Any]] = {}
    for step in planned.steps:
        nothing: dict[str, Any] = {"before": [], "converge": False, "after": [], "consents": [], "drains": False}
        mine = found.setdefault(step.host, nothing)
        mine["drains"] = mine["drains"] or step.drains
        mine["consents"] += [name for name in step.consents if name not in mine["consents"]]
        if step.kind == converge:
            mine["converge"] = True
        else:
            mine["after" if step.drains else "before"].append(list(step.words))
    return found
