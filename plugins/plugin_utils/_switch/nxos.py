# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what Cisco NX-OS prints: ``show running-config`` and, where DCBX decides on flow control, ``show interface
priority-flow-control``.

Flow control is what the network-qos policy of the switch pauses, on ports whose mode is on; a mode of ``auto``, the
default, is negotiated (Nexus 9000 SDK guide, Configuring Priority Flow Control; confirmed). A port profile counts where
it is ``state enabled``, below the port's own lines (Nexus 5000 and 7000 configuration guides; confirmed). Ports without
a line ``mtu`` have 1500 (``show interface`` of a Nexus 7000, blog.madnetworks.fr, MTU-Nexus 7000; confirmed). The
watchdog has to be on for the switch and for the port: recalled. The head, ``hostname`` and the lines behind the
interfaces: dumps of NX-OS 7.0(3)I4(7) and 9.3(2) in public repositories; confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...module_utils._ground.text import clean_lines, ends_early
from . import config, nxos_policy
from .config import Block
from .nxos_policy import Policies
from .port import SwitchPort, Text, Told

HEAD = re.compile(r"!Command: show running-config")
NEGOTIATED = "show_interface_priority-flow-control.txt"
_COMMAND = "show running-config"
_PORT = re.compile(r"(?:Ethernet|port-channel)[0-9][0-9/]{0,15}", re.IGNORECASE)
_MODE = re.compile(r"priority-flow-control mode (?:on|off|auto)(?: send-tlv)?")
_WATCHDOG = re.compile(r"priority-flow-control watch-dog-interval (?:on|off)")
_OTHER_PFC = re.compile(r"priority-flow-control (?:watch-dog|auto-restore|fixed-restore|recover) ?.*")
# What holds for every port, and what a port may say of itself, by subject.
_OF_SWITCH = {
    "mode of all": re.compile(r"priority-flow-control override-interface mode (?:on|off|auto)"),
    "watchdog of all": _WATCHDOG,
}
_OF_PORT = {"mode": _MODE, "watchdog": _WATCHDOG}
_SUBJECTS = ("mtu", "channel-group", "service-policy", "priority-flow-control", "inherit")
# What is not known of a member of a port channel that says something else of these subjects.
_OF_MEMBER = {"mode": ("pfc",), "mtu": ("mtu",), "qos input": ("trust", "classes"), "queuing output": ("ecn",)}
_ROW = re.compile(r"(\S{1,30}) (Auto|On|Off) (On|Off)(?: ?\(([0-9a-f]{1,2})\))? [0-9]{1,20} [0-9]{1,20}", re.IGNORECASE)
_UNTOLD = f"the mode is auto: `show interface priority-flow-control` tells what was negotiated, hand in {NEGOTIATED}"


@dataclass(frozen=True)
class _Row:
    """Of a port: its mode, whether it pauses, the bits of the priorities."""

    mode: str
    on: bool
    bits: str
    line: str


def read(text: Text, shown: Text | None = None) -> tuple[str, dict[str, SwitchPort]]:
    """The switch's own name, and its ports; ``shown``: of ``show interface priority-flow-control``."""
    top = _top(text)
    policies = Policies(text, config.named(text, top, nxos_policy.map_name), nxos_policy.bound(text, top))
    for block in policies.maps.values():
        nxos_policy.understood(text, block)
    found = config.named(text, config.walk(top, "interface"), lambda block: " ".join(block.words[1:]))
    profiles = {block.words[-1]: block for block in config.walk(top, "port-profile")}
    ports = {name: block for name, block in found.items() if _PORT.fullmatch(name)}
    if not ports:
        raise text.refuse(0, "", "no interface Ethernet")
    of_switch = _flow_control(text, top, _OF_SWITCH)
    said = {name: _said(text, block, profiles) for name, block in ports.items()}
    rows = _negotiated(shown) if shown is not None else {}
    names = [block.words[1] for block in top if block.words[0] in ("hostname", "switchname") and len(block.words) == 2]
    return (names or [""])[0], {name: _with_channel(policies, name, said, of_switch, rows) for name in said}


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
        raise text.refuse(len(lines), "", "no `line vty` behind the interfaces: it was cut")
    return top


def _said(text: Text, block: Block, profiles: Mapping[str, Block]) -> dict[str, Block]:
    """What an interface says, by subject, with the profile that it inherits."""
    found: dict[str, Block] = {}
    for at, one in enumerate(config.walk(block.body, "inherit", "port-profile")):
        profile = profiles.get(one.words[-1])
        if profile is None or at:
            reason = "a second port-profile: nobody here follows that" if at else "no such port-profile"
            raise text.refuse(one.number, one.said, reason)
        if any(config.walk(profile.body, "state", "enabled")):
            found.update(_said(text, profile, {}))
    for one in block.body:
        if one.words[0] == "service-policy":
            found[nxos_policy.kind_of(text, one)] = one
        elif one.words[0] in ("mtu", "channel-group"):
            found[one.words[0]] = one
        elif one.words[0] == "no" and one.words[1:2] and one.words[1] in _SUBJECTS:
            raise text.refuse(one.number, one.said, "a default that is written out: nobody here follows that")
    return {**found, **_flow_control(text, block.body, _OF_PORT)}


def _flow_control(text: Text, blocks: list[Block], forms: Mapping[str, re.Pattern[str]]) -> dict[str, Block]:
    """The lines of flow control, by subject; ParseError for one that nobody here knows."""
    found: dict[str, Block] = {}
    for one in blocks:
        if one.words[0] != "priority-flow-control" and one.words[:2] != ("no", "priority-flow-control"):
            continue
        mine = next((name for name, form in forms.items() if form.fullmatch(one.said)), "")
        if not mine and not _OTHER_PFC.fullmatch(one.said):
            raise text.refuse(one.number, one.said, "no priority-flow-control that is known")
        found.update({mine: one} if mine else {})
    return found


def _with_channel(
    policies: Policies,
    name: str,
    said: Mapping[str, Mapping[str, Block]],
    of_switch: Mapping[str, Block],
    rows: Mapping[str, _Row],
) -> SwitchPort:
    """A port; a member of a port channel does what that does where it says nothing itself."""
    mine = said[name]
    channel = config.channel_of(policies.text, mine.get("channel-group"), "port-channel", said)
    its = said[channel] if channel else mine
    return config.apart(policies.text, _port(policies, name, {**of_switch, **its, **mine}, rows), mine, its, _OF_MEMBER)


def _negotiated(shown: Text) -> dict[str, _Row]:
    """By port, in lower case."""
    lines = clean_lines(shown.text)
    if ends_early(shown.text):
        raise shown.refuse(len(lines), lines[-1], "the text ends within this line: it was cut")
    head = next((at for at, line in enumerate(lines) if line.split()[:3] == ["Port", "Mode", "Oper(VL"]), None)
    if head is None:
        raise shown.refuse(min(1, len(lines)), lines[0] if lines else "", "no head Port, Mode, Oper(VL bmap)")
    found: dict[str, _Row] = {}
    for number, line in enumerate(lines[head + 1 :], head + 2):
        if not line.strip() or set(line.strip()) == {"="}:
            continue
        match = _ROW.fullmatch(" ".join(line.split()))
        if match is None:
            raise shown.refuse(number, line, "no row of Port, Mode, Oper, RxPPP and TxPPP")
        if match.group(1).lower() in found:
            raise shown.refuse(number, line, f"{match.group(1)} is there twice")
        mode, operates = match.group(2).lower(), match.group(3).lower()
        found[match.group(1).lower()] = _Row(mode, operates == "on", match.group(4) or "", shown.line(number, line))
    if not found:
        raise shown.refuse(head + 1, lines[head], "no port below it")
    return found


def _port(policies: Policies, name: str, said: Mapping[str, Block], rows: Mapping[str, _Row]) -> SwitchPort:
    bound = {**policies.system, **said}
    policy, lost = policies.policy("qos", bound.get("qos input"))
    trust, classes = nxos_policy.classified(policies, policy)
    short = name.lower().replace("ethernet", "eth")
    return SwitchPort(
        name,
        frozenset((name.lower(), short)),
        pfc=_pfc(policies, name, said, rows),
        trust=Told(why=lost) if lost else trust,
        classes=Told(why=lost) if lost else classes,
        ecn=nxos_policy.ecn(policies, bound.get("queuing output")),
        mtu=_mtu(policies, name, said),
        watchdog=_watchdog(policies.text, name, said),
    )


def _pfc(policies: Policies, name: str, said: Mapping[str, Block], rows: Mapping[str, _Row]) -> Told[tuple[int, ...]]:
    every = policies.paused[1]
    block = said.get("mode of all") or said.get("mode")
    mode = "auto" if block is None else next(word for word in block.words if word in ("on", "off", "auto"))
    line = config.quote(policies.text, block) or config.without(policies.text, f"priority-flow-control mode of {name}")
    if every.value is None or not every.value:
        return every
    if mode == "off":
        return Told((), line)
    row = rows.get(name.lower())
    if row is not None:
        mine = sum(1 << at for at in every.value)
        # As hexadecimal or as decimal digits: only what both cannot tell apart is believed.
        bits = {int(row.bits, 16), int(row.bits, 10) if row.bits.isdecimal() else -1} if row.bits else {mine}
        if row.mode != mode or (row.on and mine not in bits):
            return Told(why=f"{row.line} does not fit {line if row.mode != mode else every.line}")
        return Told(every.value if row.on else (), f"{row.line}; {every.line}")
    if mode == "auto":
        return Told(why=f"{line}: {_UNTOLD}")
    return Told(every.value, f"{line}; {every.line}")


def _mtu(policies: Policies, name: str, said: Mapping[str, Block]) -> Told[int]:
    if "mtu" in said:
        return config.mtu_of(policies.text, said["mtu"])
    line = config.without(policies.text, f"mtu of {name}")
    of_class = policies.mtu()
    if of_class is not None:
        # On some Nexus that is what counts, on others the port's default does.
        return Told(why=f"{line}, and {config.quote(policies.text, of_class)}")
    return Told(1500, f"{line}: the default")


def _watchdog(text: Text, name: str, said: Mapping[str, Block]) -> Told[bool]:
    blocks = (said.get("watchdog of all"), said.get("watchdog"))
    quoted = [
        config.quote(text, block) or config.without(text, f"watch-dog-interval of {what}")
        for block, what in zip(blocks, ("the switch", name), strict=True)
    ]
    return Told(all(block is not None and block.words[-1] == "on" for block in blocks), "; ".join(quoted))
