# SPDX-License-Identifier: GPL-3.0-or-later
"""The class-maps and policy-maps of Cisco NX-OS: what they look at, where they lead a DSCP, what is paused and marked.

A port's qos policy leads a DSCP into a qos-group, whose number its queue and its predefined classes have (c-8q-nq3,
c-out-8q-q3); a network-qos policy pauses with ``pause pfc-cos``, and a queuing policy with ``ecn`` marks (microsoft,
AzureLocal-Supportability, Reference-TOR-QOS-Policy; confirmed). Without a qos policy everything is in qos-group 0:
recalled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from . import config
from .config import Block
from .port import DSCP, DSCPS, PCP, PRIORITIES, Text, Told, TrafficClass

# Predefined classes, with the number of their qos-group.
_PREDEFINED = re.compile(r"c-(?:[48]q-)?nq(?:([0-7])|-default)|c-out-(?:[48]q-)?q(?:([0-7])|-default)|class-default")
_PREDEFINED_POLICY = re.compile(r"default-(?:[48]q-)?(?:nq|out|in)-policy")
_POLICY = re.compile(r"service-policy(?: type (qos|queuing|network-qos))?(?: (input|output))? (\S{1,80})(?: no-stats)?")
_MARKED = re.compile(
    r"(?:random-detect|afd)(?: (?:minimum-threshold|maximum-threshold|drop-probability|weight|threshold|cap-average|"
    r"burst-optimized|mesh-optimized|queue-desired|[kmg]?bytes|packets|[0-9]{1,12}|ecn|non-ecn))+"
)
# What may stand in a class of each kind of policy.
_ACTIONS = {
    "qos": ("set", "police", "description"),
    "queuing": ("bandwidth", "priority", "random-detect", "afd", "shape", "queue-limit", "burst-detect", "no"),
    "network-qos": ("mtu", "pause", "queue-limit", "set", "congestion-control", "multicast-optimize", "description"),
}
_DSCP_NAMES = {
    "default": 0,
    "ef": 46,
    **{f"cs{at}": 8 * at for at in range(1, 8)},
    **{f"af{klass}{drop}": 8 * klass + 2 * drop for klass in range(1, 5) for drop in range(1, 4)},
}
_GROUPS = tuple((str(at),) for at in PRIORITIES)


@dataclass(frozen=True)
class Policies:
    """``maps``: class-maps and policy-maps by kind, type and name. ``system``: what the switch has bound, by type and
    direction."""

    text: Text
    maps: Mapping[str, Block]
    system: Mapping[str, Block]

    def policy(self, kind: str, bound: Block | None) -> tuple[Block | None, str]:
        """The policy that is bound; None with "" where nothing is, with a reason where its text is not there."""
        match = _POLICY.fullmatch(bound.said) if bound is not None else None
        if match is None or _PREDEFINED_POLICY.fullmatch(match.group(3)):
            return None, ""
        found = self.maps.get(f"policy-map {kind} {match.group(3)}")
        return found, "" if found is not None else config.without(self.text, f"policy-map type {kind} {match.group(3)}")

    def group(self, kind: str, name: str) -> int | None:
        """The qos-group of a class of a queuing or network-qos policy."""
        match = _PREDEFINED.fullmatch(name)
        if match is not None:
            return int(match.group(1) or match.group(2) or 0)
        block = self.maps.get(f"class-map {kind} {name}")
        said = [one.words for one in block.body if one.words[0] == "match"] if block is not None else []
        one = said[0] if len(said) == 1 else ()
        return int(one[2]) if one[:2] == ("match", "qos-group") and one[2:] in _GROUPS else None

    def mtu(self) -> Block | None:
        """The first MTU of a class, which on some Nexus is that of every port without its own."""
        policy, _lost = self.policy("network-qos", self.system.get("network-qos"))
        return next((action for _cls, action in _actions(policy) if action.words[0] == "mtu"), None)

    @cached_property
    def paused(self) -> tuple[Mapping[int, tuple[int, ...]], Told[tuple[int, ...]]]:
        """By qos-group the priorities that are paused for it, and all of them."""
        policy, lost = self.policy("network-qos", self.system.get("network-qos"))
        if lost:
            return {}, Told(why=lost)
        pauses: dict[int, tuple[int, ...]] = {}
        quoted: list[Block] = []
        for cls, action in _actions(policy):
            if action.words[0] != "pause":
                continue
            group = self.group("network-qos", _class_name(cls))
            if group is None or "pfc-cos" not in action.words:
                what = "its qos-group" if group is None else "pfc-cos"
                return {}, Told(why=f"{config.quote(self.text, cls, action)}: nothing tells {what}")
            said = "".join(action.words[action.words.index("pfc-cos") + 1 :])
            pauses[group] = config.numbers_of(self.text, action, said, PRIORITIES)
            quoted.append(action)
        every = tuple(sorted({at for some in pauses.values() for at in some}))
        line = config.quote(self.text, *quoted) or config.without(self.text, "pause in a network-qos policy")
        return pauses, Told(every, line)


def map_name(block: Block) -> str:
    """``class-map qos NAME``, "" for what is no class-map or policy-map of these types."""
    words = [word for word in block.words if word not in ("match-all", "match-any")]
    if words[0] not in ("class-map", "policy-map"):
        return ""
    kind, rest = (words[2], words[3:]) if words[1:2] == ["type"] and len(words) > 2 else ("qos", words[1:])
    return f"{words[0]} {kind} {rest[0]}" if kind in _ACTIONS and rest else ""


def understood(text: Text, block: Block) -> None:
    """ParseError for a word of a policy that nobody here knows: it may be what counts."""
    if block.words[0] == "class-map":
        strange = [one for one in block.body if one.words[0] not in ("match", "description")]
    else:
        known = _ACTIONS[block.words[2] if block.words[1] == "type" else "qos"]
        classes = [one for one in block.body if one.words[0] != "description"]
        strange = [one for one in classes if one.words[0] != "class" or len(one.words) not in (2, 4)]
        strange += [one for cls in classes for one in cls.body if one.words[0] not in known]
    for one in strange:
        raise text.refuse(one.number, one.said, "no such line of a class or a policy is known")


def bound(text: Text, top: Iterable[Block]) -> dict[str, Block]:
    """What ``system qos`` binds, by type and direction."""
    some = [one for block in config.walk(top, "system", "qos") for one in block.body]
    return {kind_of(text, one): one for one in some if one.words[0] == "service-policy"}


def kind_of(text: Text, block: Block) -> str:
    """``qos input``, ``queuing output`` or ``network-qos``."""
    match = _POLICY.fullmatch(block.said)
    if match is None:
        raise text.refuse(block.number, block.said, "no service-policy that is known")
    return f"{match.group(1) or 'qos'} {match.group(2) or ''}".strip()


def _actions(policy: Block | None) -> Iterator[tuple[Block, Block]]:
    """Each line of a policy's classes, with its class."""
    for cls in config.walk(policy.body if policy is not None else (), "class"):
        for action in cls.body:
            yield cls, action


def _class_name(cls: Block) -> str:
    return cls.words[-1]


def _matched(policies: Policies, name: str) -> tuple[set[int], bool, str, list[Block]]:
    """The DSCPs of a class, whether it looks at the VLAN priority, and why nobody can follow it; with its lines."""
    block = policies.maps.get(f"class-map qos {name}")
    if block is None:
        return set(), False, config.without(policies.text, f"class-map type qos {name}"), []
    lines = [one for one in block.body if one.words[0] == "match"]
    if not lines:
        return set(), False, f"{config.quote(policies.text, block)}: it matches by nothing", []
    sets: list[set[int]] = []
    tagged = False
    for one in lines:
        words = one.words[2:] if one.words[1:2] == ("ip",) else one.words[1:]
        if words[:1] == ("dscp",):
            said = ",".join(words[1:]).replace(",,", ",").split(",")
            plain = ",".join(str(_DSCP_NAMES.get(word, word)) for word in said)
            sets.append(set(config.numbers_of(policies.text, one, plain, DSCPS)))
        elif words[:1] == ("cos",):
            tagged = True
        else:
            return set(), False, f"{config.quote(policies.text, one)}: nobody here follows that", lines
    if "match-any" in block.words:
        return set().union(*sets), tagged, "", lines
    if tagged and sets:
        return set(), False, f"{config.quote(policies.text, block)}: it wants both a DSCP and a VLAN priority", lines
    return set.intersection(*sets) if sets else set(), tagged, "", lines


def classified(
    policies: Policies, policy: Block | None
) -> tuple[Told[frozenset[str]], Told[Mapping[int, TrafficClass]]]:
    """What the policy looks at, and where it leads each DSCP: the first class that fits counts."""
    trust, classes = _followed(policies, policy)
    lost = policies.paused[1].why if policies.paused[1].value is None else ""
    return trust, Told(why=lost) if lost else classes


def _followed(
    policies: Policies, policy: Block | None
) -> tuple[Told[frozenset[str]], Told[Mapping[int, TrafficClass]]]:
    if policy is None:
        nothing = config.without(policies.text, "service-policy type qos input")
        every = {dscp: _class(policies, 0, nothing) for dscp in DSCPS}
        return Told(frozenset(), nothing), Told(every)
    looks: dict[str, Block] = {}
    found: dict[int, TrafficClass] = {}
    rest = _class(policies, 0, config.without(policies.text, f"class for it in {policy.said}"))
    for cls in config.walk(policy.body, "class"):
        name = _class_name(cls)
        groups = list(config.walk(cls.body, "set", "qos-group"))
        if groups and (len(groups) > 1 or groups[0].words[2:] not in _GROUPS):
            raise policies.text.refuse(groups[-1].number, groups[-1].said, "no qos-group that is known, or a second")
        group = int(groups[0].words[2]) if groups else 0
        if name == "class-default":
            rest = _class(policies, group, config.quote(policies.text, cls, *groups))
            continue
        dscps, tagged, lost, lines = _matched(policies, name)
        if lost:
            return Told(why=lost), Told(why=lost)
        looks.update({DSCP: lines[0]} if dscps else {})
        looks.update({PCP: lines[0]} if tagged else {})
        led = _class(policies, group, config.quote(policies.text, *lines, *(groups or [cls])))
        found.update({dscp: led for dscp in dscps if dscp not in found})
    line = config.quote(policies.text, *looks.values()) or config.quote(policies.text, policy)
    return Told(frozenset(looks), line), Told({dscp: found.get(dscp, rest) for dscp in DSCPS})


def _class(policies: Policies, group: int, line: str) -> TrafficClass:
    """Paused for a qos-group is what its network-qos class says; else nothing, and its number stands for it."""
    pauses, every = policies.paused
    own = pauses.get(group, ())
    priority = own[0] if own else None if group in (every.value or ()) else group
    return TrafficClass(priority, group, line)


def ecn(policies: Policies, bound: Block | None) -> Told[frozenset[int]]:
    """The queues that the queuing policy has mark."""
    policy, lost = policies.policy("queuing", bound)
    if lost:
        return Told(why=lost)
    marking: set[int] = set()
    quoted: list[Block] = []
    for cls, action in _actions(policy):
        if action.words[0] not in ("random-detect", "afd"):
            continue
        if _MARKED.fullmatch(action.said) is None:
            raise policies.text.refuse(action.number, action.said, "no random-detect that is known")
        if "ecn" not in action.words:
            continue
        group = policies.group("queuing", _class_name(cls))
        if group is None:
            return Told(why=f"{config.quote(policies.text, cls)}: nothing tells its qos-group")
        marking.add(group)
        quoted += [cls, action]
    nothing = config.without(policies.text, "random-detect with ecn in the queuing policy")
    return Told(frozenset(marking), config.quote(policies.text, *quoted) or nothing)
