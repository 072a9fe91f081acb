# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what Arista EOS prints of its configuration: ``show running-config``, whole or ``sanitized``.

Lines of interfaces, of the qos profiles that these bind (``service-profile``) and of the switch: the configurations
that aristanetworks/avd generates (molecule/eos_cli_config_gen); confirmed. A DSCP leads into a traffic class and that
into a queue, by the switch's maps over a default that the EOS manual has for every platform (Quality of Service); what
is paused for a traffic class is the priority of its number; inferred. Switched ports trust the CoS and have 9214 bytes,
routed ones trust the DSCP and have 1500; confirmed, the last by outputs of ``show interfaces`` in public repositories.
Where a routed port has an ``mtu`` and an ``l2 mtu``, packets have to pass by both: inferred. Into which queues traffic
classes 0 and 1 lead by themselves differs between platforms. The watchdog is off without a timeout (DCBX and Flow
Control); recalled. Head and ``end``: dumps of EOS 4.20 to 4.33 in public repositories; confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import config
from .config import Block
from .port import DSCP, DSCPS, PCP, PRIORITIES, SwitchPort, Text, Told, TrafficClass

HEAD = re.compile(r"! Command: show running-config(?: sanitized)?")
_COMMAND = "show running-config"
_PORT = re.compile(r"(?:Ethernet|Port-Channel)[0-9][0-9/]{0,15}")
# The traffic class of DSCP 0 to 7, of 8 to 15, and so on.
_DEFAULT = (1, 0, 2, 3, 4, 5, 6, 7)
# Of these alone it is known that they lead into the queue of their number by themselves.
_SAME_QUEUE = range(2, 8)
_ON = re.compile(r"priority-flow-control (?:mode )?on")
_OFF = re.compile(
    r"no priority-flow-control(?: mode)?|priority-flow-control (?:mode )?off|priority-flow-control all off"
)
_PRIORITY = re.compile(r"priority-flow-control priority ([0-7]) (no-drop|drop)")
_WATCHDOG = re.compile(
    r"(no )?priority-flow-control pause watchdog(?: (?:(?:port |override )?action (\S+)|hardware|disable|"
    r"port timer timeout (\S+)(?: .*)?|default timeout (\S+)|default (?:polling-interval|recovery-time) .*))?"
)
_ENDS_PAUSES = ("drop", "no-drop", "errdisable")
_TRUST = re.compile(r"(no )?qos trust(?: (dscp|cos))?")
_MARKS = re.compile(r"random-detect ecn (?:minimum-threshold|(count)).*")
_QUEUE = re.compile(r"(?:uc-)?tx-queue ([0-7])")
_OF_DSCP = re.compile(r"qos map dscp ([0-9 ,-]{1,300}) to traffic-class ([0-7])(?: drop-precedence [0-9])?")
_OF_CLASS = re.compile(r"qos map traffic-class ([0-7 ,-]{1,40}) to (\S+) ?([0-9]{0,2})")
_QUEUES, _BESIDE = ("tx-queue", "uc-tx-queue"), ("cos", "dscp", "exp", "mc-tx-queue")
# Lines by which an interface is led past the switch's maps.
_PAST = re.compile(r"service-policy type qos input .*|qos map .*")
_UNDONE = ("mtu", "l2", "channel-group", "service-profile", "service-policy", "tx-queue", "uc-tx-queue")
_LOSSLESS, _MARKING = ({at: f"{subject} {at}" for at in PRIORITIES} for subject in ("lossless", "marking queue"))
# What is not known of a member of a port channel that says something else of these subjects.
_OF_MEMBER = {
    **{subject: ("pfc",) for subject in ("pfc", *_LOSSLESS.values())},
    **{subject: ("ecn",) for subject in _MARKING.values()},
    "trust": ("trust",),
    "past": ("trust", "classes"),
    "switchport": ("trust", "mtu"),
    "mtu": ("mtu",),
    "l2 mtu": ("mtu",),
}
# The lines of a port, of a profile or of the switch, by subject.
_Said = Mapping[str, Block]


@dataclass(frozen=True)
class _Switch:
    text: Text
    said: _Said
    classes: Told[Mapping[int, TrafficClass]]
    routed: bool
    mtu: Block | None


def read(text: Text) -> tuple[str, dict[str, SwitchPort]]:
    """The switch's own name, and its ports."""
    top = _top(text)
    defaults = [one for block in config.walk(top, "interface", "defaults") for one in config.walk(block.body, "mtu")]
    routed = any(block.said == "switchport default mode routed" for block in top)
    switch = _Switch(text, _said(text, top), _classes(text, top), routed, defaults[0] if defaults else None)
    profiles = {
        name: _said(text, block.body)
        for name, block in config.named(
            text, config.walk(top, "qos", "profile"), lambda block: " ".join(block.words[2:])
        ).items()
    }
    found = config.named(text, config.walk(top, "interface"), lambda block: " ".join(block.words[1:]))
    said = {
        name: _bound(text, _said(text, block.body), profiles) for name, block in found.items() if _PORT.fullmatch(name)
    }
    if not said:
        raise text.refuse(0, "", "no interface Ethernet")
    names = [block.words[1] for block in config.walk(top, "hostname") if len(block.words) == 2]
    return (names or [""])[0], {name: _with_channel(switch, name, said) for name in said}


def _top(text: Text) -> list[Block]:
    head, lines = config.lines_of(text, HEAD, _COMMAND)
    whole = list(enumerate(lines, 1))[head:]
    end = next((at for at, (_number, line) in enumerate(whole) if line == "end"), None)
    if end is None:
        raise text.refuse(len(lines), "", "no `end`: it was cut")
    return config.tree(text, whole[:end])


def _said(text: Text, blocks: Iterable[Block]) -> _Said:
    """ParseError for a line of these subjects that nobody here knows: it may be what counts."""
    found: dict[str, Block] = {}
    for block in blocks:
        said, subject = block.said, ""
        if block.words[0] == "priority-flow-control" or block.words[:2] == ("no", "priority-flow-control"):
            subject = "pfc" if _ON.fullmatch(said) or _OFF.fullmatch(said) else ""
            priority, watchdog = _PRIORITY.fullmatch(said), _WATCHDOG.fullmatch(said)
            if priority is not None:
                subject = _LOSSLESS[int(priority.group(1))]
            elif watchdog is not None:
                subject = "action" if watchdog.group(2) else "timeout" if watchdog.group(3, 4) != (None, None) else ""
                subject = subject or ("watchdog" if len(block.words) < 5 or block.words[-1] == "disable" else "")
            elif not subject:
                raise text.refuse(block.number, said, "no priority-flow-control that is known")
        elif block.words[:2] == ("qos", "trust") or block.words[:3] == ("no", "qos", "trust"):
            if _TRUST.fullmatch(said) is None:
                raise text.refuse(block.number, said, "no trust that is known")
            subject = "trust"
        elif block.words[0] in ("tx-queue", "uc-tx-queue"):
            match = _QUEUE.fullmatch(said)
            if match is None:
                raise text.refuse(block.number, said, "no queue that is known")
            subject = _MARKING[int(match.group(1))] if _marking(text, block) else ""
        elif _PAST.fullmatch(said):
            subject = "past"
        elif said in ("switchport", "no switchport"):
            subject = "switchport"
        elif block.words[0] in ("mtu", "channel-group", "service-profile"):
            subject = block.words[0]
        elif block.words[:2] == ("l2", "mtu"):
            subject = "l2 mtu"
        elif block.words[:4] == ("qos", "random-detect", "ecn", "global-buffer"):
            subject = "every queue"
        elif block.words[0] == "no" and block.words[1:2] and block.words[1] in _UNDONE:
            raise text.refuse(block.number, said, "a default that is written out: nobody here follows that")
        found.update({subject: block} if subject else {})
    return found


def _marking(text: Text, queue: Block) -> bool:
    marks = False
    for one in queue.body:
        if "random-detect" not in one.words[:2]:
            continue
        match = _MARKS.fullmatch(one.said)
        if match is None and one.words[:2] != ("random-detect", "drop"):
            raise text.refuse(one.number, one.said, "no random-detect that is known")
        marks = marks or (match is not None and match.group(1) is None)
    return marks


def _bound(text: Text, own: _Said, profiles: Mapping[str, _Said]) -> _Said:
    """What an interface says over the profile that it binds."""
    bound = own.get("service-profile")
    if bound is None:
        return own
    profile = profiles.get(" ".join(bound.words[1:]))
    if profile is None:
        raise text.refuse(bound.number, bound.said, "no such qos profile")
    return {**profile, **own}


def _with_channel(switch: _Switch, name: str, said: Mapping[str, _Said]) -> SwitchPort:
    """A port; a member of a port channel does what that does where it says nothing itself."""
    mine = said[name]
    channel = config.channel_of(switch.text, mine.get("channel-group"), "Port-Channel", said)
    its = said[channel] if channel else mine
    return config.apart(switch.text, _port(switch, name, {**its, **mine}), mine, its, _OF_MEMBER)


def _classes(text: Text, top: list[Block]) -> Told[Mapping[int, TrafficClass]]:
    led: dict[int, tuple[int, Block | None]] = {dscp: (_DEFAULT[dscp // 8], None) for dscp in DSCPS}
    queues: dict[int, tuple[int, Block | None]] = {at: (at, None) for at in _SAME_QUEUE}
    for block in config.walk(top, "qos", "map"):
        of_dscp, of_class = _OF_DSCP.fullmatch(block.said), _OF_CLASS.fullmatch(block.said)
        if of_dscp is not None:
            some = config.numbers_of(text, block, of_dscp.group(1), DSCPS)
            led.update(dict.fromkeys(some, (int(of_dscp.group(2)), block)))
        elif of_class is not None and of_class.group(2) in _QUEUES:
            queue = config.numbers_of(text, block, of_class.group(3), PRIORITIES)
            some = config.numbers_of(text, block, of_class.group(1), PRIORITIES)
            if len(queue) != 1:
                raise text.refuse(block.number, block.said, "no queue")
            queues.update(dict.fromkeys(some, (queue[0], block)))
        elif block.words[2:3] == ("dscp",) and "name" not in block.words:
            raise text.refuse(block.number, block.said, "no map of DSCPs that is known")
        elif block.words[2:3] == ("traffic-class",) and not {*_BESIDE, "name"} & set(block.words):
            return Told(why=f"{config.quote(text, block)}: nobody here follows that")
    default = f"{text.name}: the default map of DSCPs"
    return Told(
        {
            dscp: TrafficClass(
                tc,
                queues.get(tc, (None, None))[0],
                config.quote(text, block, queues.get(tc, (None, None))[1]) or default,
            )
            for dscp, (tc, block) in led.items()
        }
    )


def _port(switch: _Switch, name: str, said: _Said) -> SwitchPort:
    past = said.get("past")
    lost = f"{config.quote(switch.text, past)}: nobody here follows that" if past is not None else ""
    short = name.lower().replace("ethernet", "et").replace("port-channel", "po")
    return SwitchPort(
        name,
        frozenset((name.lower(), short)),
        pfc=_pfc(switch, name, said),
        trust=Told(why=lost) if lost else _trust(switch, name, said),
        classes=Told(why=lost) if lost else switch.classes,
        ecn=_ecn(switch, name, said),
        mtu=_mtu(switch, name, said),
        watchdog=_watchdog(switch, name, said),
    )


def _pfc(switch: _Switch, name: str, said: _Said) -> Told[tuple[int, ...]]:
    of_switch, block = switch.said.get("pfc"), said.get("pfc")
    if of_switch is not None and _OFF.fullmatch(of_switch.said):
        return Told((), config.quote(switch.text, of_switch))
    if block is None or not _ON.fullmatch(block.said):
        line = config.quote(switch.text, block) or config.without(switch.text, f"priority-flow-control on at {name}")
        return Told((), line)
    listed = {at: said[subject] for at, subject in _LOSSLESS.items() if subject in said}
    kept = {at: one for at, one in listed.items() if one.words[-1] == "no-drop"}
    return Told(tuple(kept), config.quote(switch.text, block, *kept.values()))


def _routed(switch: _Switch, said: _Said) -> bool:
    block = said.get("switchport")
    return switch.routed if block is None else block.words[0] == "no"


def _trust(switch: _Switch, name: str, said: _Said) -> Told[frozenset[str]]:
    block = said.get("trust")
    match = _TRUST.fullmatch(block.said) if block is not None else None
    if block is not None and match is not None:
        mode = "" if match.group(1) else match.group(2) or ""
        found = {"dscp": {DSCP}, "cos": {PCP}}.get(mode, set())
        return Told(frozenset(found), config.quote(switch.text, block))
    routed = _routed(switch, said)
    kind = "a routed port trusts the DSCP" if routed else "a switched port trusts the CoS"
    return Told(
        frozenset((DSCP if routed else PCP,)),
        f"{config.without(switch.text, f'qos trust of {name}')}: {kind} by itself",
    )


def _ecn(switch: _Switch, name: str, said: _Said) -> Told[frozenset[int]]:
    every = switch.said.get("every queue")
    if every is not None:
        return Told(frozenset(PRIORITIES), config.quote(switch.text, every))
    queues = {at: said[subject] for at, subject in _MARKING.items() if subject in said}
    quoted = [one for queue in queues.values() for one in (queue, *config.walk(queue.body, "random-detect", "ecn"))]
    line = config.quote(switch.text, *quoted) or config.without(switch.text, f"random-detect ecn of a queue of {name}")
    return Told(frozenset(queues), line)


def _mtu(switch: _Switch, name: str, said: _Said) -> Told[int]:
    routed, layer2 = _routed(switch, said), said.get("l2 mtu")
    block = said.get("mtu") or (switch.mtu if routed else None)
    line = f"{config.without(switch.text, f'mtu of {name}')}: the default"
    own = Told(1500 if routed else 9214, line) if block is None else config.mtu_of(switch.text, block)
    if layer2 is None:
        return own
    its = config.mtu_of(switch.text, Block(layer2.number, layer2.words[1:]))
    return own if routed and (own.value or 0) < (its.value or 0) else its


def _watchdog(switch: _Switch, name: str, said: _Said) -> Told[bool]:
    """A timeout that is not 0, of the switch or of the port, that nothing switches off, and an act that ends pauses."""
    block = said.get("watchdog")
    if block is not None and (block.words[0] == "no" or block.words[-1] == "disable"):
        return Told(False, config.quote(switch.text, block))
    timeout = said.get("timeout") or switch.said.get("timeout")
    action = said.get("action") or switch.said.get("action")
    match = _WATCHDOG.fullmatch(timeout.said) if timeout is not None else None
    if timeout is None or match is None:
        return Told(False, config.without(switch.text, f"timeout of a watchdog for {name}"))
    said_time = match.group(3) or match.group(4)
    if re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,6})?", said_time) is None:
        raise switch.text.refuse(timeout.number, timeout.said, "no timeout")
    ends = action is None or action.words[-1] in _ENDS_PAUSES
    return Told(float(said_time) > 0 and timeout.words[0] != "no" and ends, config.quote(switch.text, timeout, action))
