# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what Cisco NX-OS prints: ``show running-config`` and, where DCBX decides on flow control, ``show interface
priority-flow-control``.

Flow control is what the network-qos policy of the switch pauses (``pause pfc-cos``), on ports whose mode is on; a mode
of ``auto``, the default, is negotiated (Nexus 9000 SDK guide, Configuring Priority Flow Control; confirmed). A port's
qos policy leads a DSCP into a qos-group, whose number its queue and its predefined classes have (c-8q-nq3,
c-out-8q-q3); a queuing policy with ``ecn`` marks (microsoft, AzureLocal-Supportability, Reference-TOR-QOS-Policy;
confirmed). Ports without a line ``mtu`` have 1500, without a qos policy everything is in qos-group 0, and the
watchdog has to be on for the switch and for the port: recalled. The head, ``hostname`` and the lines behind the
interfaces: dumps of NX-OS 7.0(3)I4(7) and 9.3(2) in public repositories; confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...module_utils._ground.text import clean_lines, ends_early
from . import config
from .config import Block
from .port import DSCP, DSCPS, PCP, PRIORITIES, SwitchPort, Text, Told, TrafficClass, numbers

HEAD = re.compile(r"!Command: show running-config")
NEGOTIATED = "show_interface_priority-flow-control.txt"
_COMMAND = "show running-config"
_PORT = re.compile(r"(?:Ethernet|port-channel)[0-9][0-9/]{0,15}", re.IGNORECASE)
# Predefined classes, with the number of their qos-group.
_PREDEFINED = re.compile(r"c-(?:[48]q-)?nq(?:([0-7])|-default)|c-out-(?:[48]q-)?q(?:([0-7])|-default)|class-default")
_PREDEFINED_POLICY = re.compile(r"default-(?:[48]q-)?(?:nq|out|in)-policy")
_POLICY = re.compile(r"service-policy(?: type (qos|queuing|network-qos))?(?: (input|output))? (\S{1,80})(?: no-stats)?")
_MODE = re.compile(r"priority-flow-control mode (on|off|auto)(?: send-tlv)?")
_WATCHDOG = re.compile(r"priority-flow-control watch-dog-interval (on|off)")
_OTHER_PFC = re.compile(r"priority-flow-control (?:watch-dog|auto-restore|fixed-restore|recover) ?.*")
_OVERRIDE = re.compile(r"priority-flow-control override-interface mode (on|off|auto)")
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
_ROW = re.compile(
    r"(Ethernet[0-9/]{1,16}|port-channel[0-9]{1,5}|\S{1,20}) +(Auto|On|Off) +(On|Off) *(?:\(([0-9a-f]{1,2})\))?"
    r" +[0-9]{1,20} +[0-9]{1,20}",
    re.IGNORECASE,
)
_UNTOLD = f"the mode is auto: `show interface priority-flow-control` tells what was negotiated, hand in {NEGOTIATED}"


@dataclass(frozen=True)
class _Switch:
    """``maps``: class-maps and policy-maps by kind, type and name. ``system``: what the switch has bound, by type and
    direction."""

    text: Text
    maps: Mapping[str, Block]
    system: Mapping[str, Block]
    top: tuple[Block, ...]

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
            pauses[group] = _numbers(self.text, action, said, PRIORITIES)
            quoted.append(action)
        every = tuple(sorted({at for some in pauses.values() for at in some}))
        line = config.quote(self.text, *quoted) or config.without(self.text, "pause in a network-qos policy")
        return pauses, Told(every, line)


_GROUPS = tuple((str(at),) for at in PRIORITIES)


def read(text: Text, shown: Text | None = None) -> tuple[str, dict[str, SwitchPort]]:
    """The switch's own name, and its ports; ``shown``: of ``show interface priority-flow-control``."""
    top = _top(text)
    switch = _Switch(text, config.named(text, top, _map_name), _system(text, top), tuple(top))
    for block in switch.maps.values():
        _understood(text, block)
    found = config.named(text, config.walk(top, "interface"), lambda block: " ".join(block.words[1:]))
    profiles = {block.words[-1]: block for block in config.walk(top, "port-profile")}
    ports = {name: block for name, block in found.items() if _PORT.fullmatch(name)}
    if not ports:
        raise text.refuse(0, "", "no interface Ethernet")
    said = {name: _said(text, block, profiles) for name, block in ports.items()}
    rows = _negotiated(shown) if shown is not None else {}
    names = [block.words[1] for block in top if block.words[0] in ("hostname", "switchname") and len(block.words) == 2]
    return (names or [""])[0], {
        name: _port(switch, name, _with_channel(mine, said), rows) for name, mine in said.items()
    }


def _top(text: Text) -> list[Block]:
    """All commands; ParseError where the lines behind the interfaces are not there any more."""
    head, lines = config.lines_of(text, HEAD, _COMMAND)
    whole = list(enumerate(lines, 1))[head:]
    name = next(
        (line.split()[1] for _number, line in whole if re.fullmatch(r"(?:host|switch)name \S+", line)), "switch"
    )
    # Behind it the terminal's next prompt may have been kept.
    end = next((at for at, (_number, line) in enumerate(whole) if line.startswith(f"{name}#")), len(whole))
    top = config.tree(text, whole[:end])
    last = max((at for at, block in enumerate(top) if block.words[0] == "interface"), default=len(top))
    if not any(block.words[:2] in (("line", "console"), ("line", "vty")) for block in top[last:]):
        raise text.refuse(len(lines), lines[-1], "no `line vty` behind the interfaces: it was cut")
    return top


def _map_name(block: Block) -> str:
    words = [word for word in block.words if word not in ("match-all", "match-any")]
    if words[0] not in ("class-map", "policy-map"):
        return ""
    kind, rest = (words[2], words[3:]) if words[1:2] == ["type"] and len(words) > 2 else ("qos", words[1:])
    return f"{words[0]} {kind} {rest[0]}" if kind in _ACTIONS and rest else ""


def _understood(text: Text, block: Block) -> None:
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


def _system(text: Text, top: list[Block]) -> dict[str, Block]:
    bound = [one for block in config.walk(top, "system", "qos") for one in block.body]
    return {_kind(text, one): one for one in bound if one.words[0] == "service-policy"}


def _kind(text: Text, block: Block) -> str:
    """``qos input``, ``queuing output`` or ``network-qos``."""
    match = _POLICY.fullmatch(block.said)
    if match is None:
        raise text.refuse(block.number, block.said, "no service-policy that is known")
    return f"{match.group(1) or 'qos'} {match.group(2) or ''}".strip()


def _said(text: Text, block: Block, profiles: Mapping[str, Block]) -> dict[str, Block]:
    """What an interface says, by subject, with the profile that it inherits."""
    found: dict[str, Block] = {}
    for one in config.walk(block.body, "inherit", "port-profile"):
        profile = profiles.get(one.words[-1])
        if profile is None:
            raise text.refuse(one.number, one.said, "no such port-profile")
        found.update(_said(text, profile, {}))
    for one in block.body:
        if one.words[0] == "service-policy":
            found[_kind(text, one)] = one
        elif one.words[0] in ("mtu", "channel-group"):
            found[one.words[0]] = one
        elif one.words[0] == "priority-flow-control":
            kind = {"mode": _MODE, "watchdog": _WATCHDOG}
            mine = next((name for name, form in kind.items() if form.fullmatch(one.said)), "")
            if not mine and not _OTHER_PFC.fullmatch(one.said):
                raise text.refuse(one.number, one.said, "no priority-flow-control that is known")
            found.update({mine: one} if mine else {})
    return found


def _with_channel(mine: Mapping[str, Block], said: Mapping[str, Mapping[str, Block]]) -> Mapping[str, Block]:
    """A member of a port channel does what that does where it says nothing itself."""
    member = mine.get("channel-group")
    channel = f"port-channel{member.words[1]}" if member is not None and len(member.words) > 1 else ""
    return {**said.get(channel, {}), **mine}


def _negotiated(shown: Text) -> dict[str, tuple[bool, str, str]]:
    """By port, in lower case: whether it pauses, the bits of the priorities, and its line."""
    lines = clean_lines(shown.text)
    if ends_early(shown.text):
        raise shown.refuse(len(lines), lines[-1], "the text ends within this line: it was cut")
    head = next((at for at, line in enumerate(lines) if line.split()[:3] == ["Port", "Mode", "Oper(VL"]), None)
    if head is None:
        raise shown.refuse(min(1, len(lines)), lines[0] if lines else "", "no head Port, Mode, Oper(VL bmap)")
    found: dict[str, tuple[bool, str, str]] = {}
    for number, line in enumerate(lines[head + 1 :], head + 2):
        if not line.strip() or set(line.strip()) == {"="}:
            continue
        match = _ROW.fullmatch(line.strip())
        if match is None:
            raise shown.refuse(number, line, "no row of Port, Mode, Oper, RxPPP and TxPPP")
        if match.group(1).lower() in found:
            raise shown.refuse(number, line, f"{match.group(1)} is there twice")
        on = match.group(3).lower() == "on"
        found[match.group(1).lower()] = (on, match.group(4) or "", shown.line(number, line))
    if not found:
        raise shown.refuse(head + 1, lines[head], "no port below it")
    return found


def _port(
    switch: _Switch, name: str, said: Mapping[str, Block], rows: Mapping[str, tuple[bool, str, str]]
) -> SwitchPort:
    bound = said.get("qos input") or switch.system.get("qos input")
    policy, lost = switch.policy("qos", bound)
    trust, classes = _classified(switch, policy)
    short = name.lower().replace("ethernet", "eth")
    return SwitchPort(
        name,
        frozenset((name.lower(), short)),
        pfc=_pfc(switch, name, said, rows),
        trust=Told(why=lost) if lost else trust,
        classes=Told(why=lost) if lost else classes,
        ecn=_ecn(switch, said),
        mtu=_mtu(switch, name, said),
        watchdog=_watchdog(switch, name, said),
    )


def _pfc(
    switch: _Switch, name: str, said: Mapping[str, Block], rows: Mapping[str, tuple[bool, str, str]]
) -> Told[tuple[int, ...]]:
    every = switch.paused[1]
    block = next((one for one in switch.top if _OVERRIDE.fullmatch(one.said)), None) or said.get("mode")
    match = (_OVERRIDE.fullmatch(block.said) or _MODE.fullmatch(block.said)) if block is not None else None
    mode = match.group(1) if match is not None else "auto"
    line = config.quote(switch.text, block) or config.without(switch.text, f"priority-flow-control mode of {name}")
    if every.value is None or not every.value:
        return every
    if mode == "off":
        return Told((), line)
    if name.lower() in rows:
        on, bits, row = rows[name.lower()]
        mine = sum(1 << at for at in every.value)
        # As hexadecimal or as decimal digits: only what both cannot tell apart is believed.
        if on and bits and mine not in {int(bits, 16), int(bits, 10) if bits.isdecimal() else -1}:
            return Told(why=f"{row} does not fit {every.line}")
        return Told(every.value if on else (), f"{row}; {every.line}")
    if mode == "auto":
        return Told(why=f"{line}: {_UNTOLD}")
    return Told(every.value, f"{line}; {every.line}")


def _actions(policy: Block | None) -> Iterator[tuple[Block, Block]]:
    """Each line of a policy's classes, with its class."""
    for cls in config.walk(policy.body if policy is not None else (), "class"):
        for action in cls.body:
            yield cls, action


def _class_name(cls: Block) -> str:
    return cls.words[-1]


def _numbers(text: Text, block: Block, said: str, within: range) -> tuple[int, ...]:
    try:
        found = numbers(said, within)
    except ValueError as exc:
        raise text.refuse(block.number, block.said, str(exc)) from exc
    if not found:
        raise text.refuse(block.number, block.said, "no number")
    return found


def _matched(switch: _Switch, name: str) -> tuple[set[int], bool, str, list[Block]]:
    """The DSCPs of a class, whether it looks at the VLAN priority, and why nobody can follow it; with its lines."""
    block = switch.maps.get(f"class-map qos {name}")
    if block is None:
        return set(), False, config.without(switch.text, f"class-map type qos {name}"), []
    lines = [one for one in block.body if one.words[0] == "match"]
    sets: list[set[int]] = []
    tagged = False
    for one in lines:
        words = one.words[2:] if one.words[1:2] == ("ip",) else one.words[1:]
        if words[:1] == ("dscp",):
            said = ",".join(words[1:]).replace(",,", ",").split(",")
            plain = ",".join(str(_DSCP_NAMES.get(word, word)) for word in said)
            sets.append(set(_numbers(switch.text, one, plain, DSCPS)))
        elif words[:1] == ("cos",):
            tagged = True
        else:
            return set(), False, f"{config.quote(switch.text, one)}: nobody here follows that", lines
    if "match-any" in block.words:
        return set().union(*sets), tagged, "", lines
    if tagged and sets:
        return set(), False, f"{config.quote(switch.text, block)}: it wants both a DSCP and a VLAN priority", lines
    return set.intersection(*sets) if sets else set(), tagged, "", lines


def _classified(switch: _Switch, policy: Block | None) -> tuple[Told[frozenset[str]], Told[Mapping[int, TrafficClass]]]:
    """What the policy looks at, and where it leads each DSCP: the first class that fits counts."""
    if policy is None:
        nothing = config.without(switch.text, "service-policy type qos input")
        every = {dscp: _class(switch, 0, nothing) for dscp in DSCPS}
        return Told(frozenset(), nothing), Told(every)
    looks: dict[str, Block] = {}
    found: dict[int, TrafficClass] = {}
    rest = _class(switch, 0, config.without(switch.text, f"class for it in {policy.said}"))
    for cls in config.walk(policy.body, "class"):
        name = _class_name(cls)
        groups = list(config.walk(cls.body, "set", "qos-group"))
        group = _numbers(switch.text, groups[-1], groups[-1].words[-1], PRIORITIES)[0] if groups else 0
        if name == "class-default":
            rest = _class(switch, group, config.quote(switch.text, cls, *groups))
            continue
        dscps, tagged, lost, lines = _matched(switch, name)
        if lost:
            return Told(why=lost), Told(why=lost)
        looks.update({DSCP: lines[0]} if dscps else {})
        looks.update({PCP: lines[0]} if tagged else {})
        led = _class(switch, group, config.quote(switch.text, *lines, *(groups or [cls])))
        found.update({dscp: led for dscp in dscps if dscp not in found})
    line = config.quote(switch.text, *looks.values()) or config.quote(switch.text, policy)
    return Told(frozenset(looks), line), Told({dscp: found.get(dscp, rest) for dscp in DSCPS})


def _class(switch: _Switch, group: int, line: str) -> TrafficClass:
    """Paused for a qos-group is what its network-qos class says; else nothing, and its number stands for it."""
    pauses, every = switch.paused
    own = pauses.get(group, ())
    priority = own[0] if own else None if group in (every.value or ()) else group
    return TrafficClass(priority, group, line)


def _ecn(switch: _Switch, said: Mapping[str, Block]) -> Told[frozenset[int]]:
    policy, lost = switch.policy("queuing", said.get("queuing output") or switch.system.get("queuing output"))
    if lost:
        return Told(why=lost)
    marking: set[int] = set()
    quoted: list[Block] = []
    for cls, action in _actions(policy):
        if action.words[0] not in ("random-detect", "afd"):
            continue
        if _MARKED.fullmatch(action.said) is None:
            raise switch.text.refuse(action.number, action.said, "no random-detect that is known")
        if "ecn" not in action.words:
            continue
        group = switch.group("queuing", _class_name(cls))
        if group is None:
            return Told(why=f"{config.quote(switch.text, cls)}: nothing tells its qos-group")
        marking.add(group)
        quoted += [cls, action]
    nothing = config.without(switch.text, "random-detect with ecn in the queuing policy")
    return Told(frozenset(marking), config.quote(switch.text, *quoted) or nothing)


def _mtu(switch: _Switch, name: str, said: Mapping[str, Block]) -> Told[int]:
    if "mtu" in said:
        return config.mtu_of(switch.text, said["mtu"])
    line = config.without(switch.text, f"mtu of {name}")
    policy, _lost = switch.policy("network-qos", switch.system.get("network-qos"))
    of_class = next((action for _cls, action in _actions(policy) if action.words[0] == "mtu"), None)
    if of_class is not None:
        # On some Nexus that is what counts, on others the port's default does.
        return Told(why=f"{line}, and {config.quote(switch.text, of_class)}")
    return Told(1500, f"{line}: the default")


def _watchdog(switch: _Switch, name: str, said: Mapping[str, Block]) -> Told[bool]:
    of_switch = next((one for one in switch.top if _WATCHDOG.fullmatch(one.said)), None)
    blocks = (of_switch, said.get("watchdog"))
    quoted = [
        config.quote(switch.text, block) or config.without(switch.text, f"watch-dog-interval of {what}")
        for block, what in zip(blocks, ("the switch", name), strict=True)
    ]
    return Told(all(block is not None and block.words[-1] == "on" for block in blocks), "; ".join(quoted))
