# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what NVIDIA Onyx prints: ``show roce`` for what the command ``roce`` has set up on all ports, ``show
running-config`` for the ports, their MTU, and what is set on one of them; all of it where ``roce`` is not used.

``show roce``: NVIDIA Onyx User Manual v3.10, RoCE Commands, and an output of 3.10.4006 in a public repository;
confirmed. Its exceptions are not read: what they may touch is not told. The running configuration: dumps of 3.9 in
public repositories, for what is set up by hand the commands of NVIDIA's recommendations, and the manual's default of
trust (L2, QoS Commands); confirmed. DSCP 8 to 15 lead into switch priority 1 and so on where no ``qos map`` says
otherwise, and by hand each switch priority into the traffic class of its number; inferred. The MTU is 1500 without a
line (``show interfaces ethernet`` of MLNX-OS and Onyx in public repositories; confirmed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...module_utils._ground.text import clean_lines, ends_early
from . import config
from .config import Block
from .port import DSCP, DSCPS, PCP, PRIORITIES, SwitchPort, Text, Told, TrafficClass

HEAD = re.compile(r'## Running database "[^"]{0,80}"')
_COMMAND = "show running-config"
_LAST = re.compile(r"\s*(?:no )?cli default prefix-modes enable")
_NAME = re.compile(r"## Hostname: (\S+)")
_RANGE = re.compile(r"([0-9]+/(?:[0-9]+/)?)([0-9]+)(?:-([0-9]+/(?:[0-9]+/)?)([0-9]+))?")
# Ports of a line, and of all lines together.
_MOST, _MANY = 1024, 256 * 1024
_PAIR = re.compile(r" {0,8}([A-Za-z][A-Za-z0-9 -]{0,40}?(?: \(KB\))?) {0,20}: *(.*)")
_CLASS = re.compile(r" *([0-7]) +([0-7]) +(\S+)(?: +.*)?")
_TRUST = {"L3": (DSCP,), "L2": (PCP,), "both": (DSCP, PCP), "port": ()}
_BUFFERS = ("pool", "ingress-buffer", "egress-buffer")
_SETS = ("qos", "dcb", "traffic-class", "bind", *_BUFFERS)
_MEMBER = ("channel-group", "mlag-channel-group")
_OF_ALL = re.compile(r"dcb priority-flow-control (?:priority ([0-7]) )?(enable|disable)(?: force)?")
_PFC_MODE = ("dcb", "priority-flow-control", "mode")
_MODE = re.compile(r"dcb priority-flow-control mode (on|off|auto)")
_MARKS = re.compile(r"traffic-class ([0-7]) congestion-control (ecn|red|both) .*")
_HARMLESS = re.compile(r"traffic-class [0-7] dcb ets .*|qos rewrite .*")
# The mode where the command roce is not used.
_UNUSED = "N/A"
_SILENT = "no text of NVIDIA Onyx that ibready reads tells of the PFC watchdog"
# What the command roce may have been told, and whether it pauses both ways.
_MODES = {"lossless": True, "semi-lossless": False, "lossy": False}


@dataclass(frozen=True)
class _Roce:
    text: Text
    lines: Mapping[str, tuple[str, str]]  # by key: the value, and the line as it is quoted
    classes: Mapping[int, tuple[int, str, str]]  # by switch priority: traffic class, application, the line
    exceptions: str

    def told(self, key: str) -> tuple[str, str]:
        found = self.lines.get(key)
        if found is None:
            raise self.text.refuse(0, "", f"no line {key!r}: not what `show roce` prints")
        return found


def read(text: Text, roce: Text) -> tuple[str, dict[str, SwitchPort]]:
    """The switch's own name, and the ports of which its configuration has a line."""
    shown = _show_roce(roce)
    name, blocks = _configuration(text)
    by_hand = shown.told("RoCE mode")[0] == _UNUSED
    of_switch = _by_hand(text, blocks) if by_hand else _of_switch(shown)
    lines: dict[str, list[Block]] = {}
    many = 0
    # What is undone keeps its ``no``, for a port to refuse.
    for block in blocks:
        undone = block.words[:1] == ("no",)
        words = block.words[1:] if undone else block.words
        if words[:2] != ("interface", "ethernet"):
            continue
        line = Block(block.number, (*block.words[:undone], *words[3:]))
        for port in _ports(text, Block(block.number, words)):
            lines.setdefault(port, []).append(line)
            many += 1
        if many > _MANY:
            raise text.refuse(block.number, block.said, "more ports in its lines than any switch has")
    if not lines:
        raise text.refuse(0, "", "no line `interface ethernet`")
    return name, {f"Eth{port}": _port(text, port, some, of_switch, by_hand) for port, some in lines.items()}


def _show_roce(text: Text) -> _Roce:
    lines = clean_lines(text.text)
    if ends_early(text.text):
        raise text.refuse(len(lines), lines[-1], "the text ends within this line: it was cut")
    found: dict[str, tuple[str, str]] = {}
    classes: dict[int, tuple[int, str, str]] = {}
    section = ""
    at = 0
    for at, line in enumerate(lines, 1):
        if line.startswith("Exception list"):
            break
        pair, row = _PAIR.fullmatch(line), _CLASS.fullmatch(line)
        if not line.strip() or set(line.strip()) == {"-"}:
            continue
        if section == "RoCE buffer pools":
            continue
        if section == "RoCE used TCs" and row is not None:
            if int(row.group(1)) in classes:
                raise text.refuse(at, line, f"switch priority {row.group(1)} is there twice")
            classes[int(row.group(1))] = (int(row.group(2)), row.group(3), text.line(at, line))
        elif pair is not None:
            section = pair.group(1) if not pair.group(2) else section if line[0] == " " else ""
            key = f"{section}/{pair.group(1)}" if line[0] == " " else pair.group(1)
            if key in found:
                raise text.refuse(at, line, f"{key} is there twice")
            found[key] = (pair.group(2), text.line(at, line))
        elif line.split()[:1] != ["Switch-Priority"]:
            raise text.refuse(at, line, "no line of `show roce` that is known")
    if [value for value, _line in found.values()] == [_UNUSED]:
        return _Roce(text, found, {}, "")
    rest = [line.strip() for line in lines[at:] if line.strip()]
    if not lines or not lines[at - 1].startswith("Exception list") or not rest:
        raise text.refuse(len(lines), lines[-1] if lines else "", "no list of exceptions at the end: it was cut")
    return _Roce(text, found, classes, "" if rest == ["N/A"] else f"{text.line(at + 1, rest[0])}: an exception")


def _of_switch(roce: _Roce) -> SwitchPort:
    """What holds on all ports; nothing of it is told where there are exceptions."""
    mode, mode_line = roce.told("RoCE mode")
    if mode not in _MODES:
        raise roce.text.refuse(0, mode_line, f"no mode that is known: {', '.join(_MODES)}")
    if roce.exceptions:
        lost = roce.exceptions
        return SwitchPort("", pfc=Told(why=lost), trust=Told(why=lost), classes=Told(why=lost), ecn=Told(why=lost))
    trust, trust_line = roce.told("Port trust mode")
    marks, marks_line = roce.told("Port congestion-control/Mode")
    if trust not in _TRUST:
        raise roce.text.refuse(0, trust_line, f"no trust that is known: {', '.join(_TRUST)}")
    if not roce.classes:
        raise roce.text.refuse(0, "", "no traffic classes below 'RoCE used TCs'")
    carries = {tc for tc, what, _line in roce.classes.values() if what == "RoCE"}
    rest = f"{roce.text.name}: no such switch priority below 'RoCE used TCs'"
    leads = {at: roce.classes.get(at, (None, "", rest)) for at in PRIORITIES}
    return SwitchPort(
        "",
        pfc=_pfc(roce, mode, mode_line),
        trust=Told(frozenset(_TRUST[trust]), trust_line),
        classes=Told({dscp: TrafficClass(dscp // 8, leads[dscp // 8][0], leads[dscp // 8][2]) for dscp in DSCPS}),
        ecn=Told(frozenset(carries) if marks.split(",")[0].lower() == "ecn" else frozenset(), marks_line),
    )


def _by_hand(text: Text, blocks: list[Block]) -> SwitchPort:
    """What holds on all ports where the command roce is not used, before a port's own lines."""
    said: dict[str, Block] = {}
    for block in blocks:
        if ("dcb", "priority-flow-control") not in (block.words[:2], block.words[1:3]):
            continue
        match = _OF_ALL.fullmatch(block.said)
        if match is None:
            raise text.refuse(block.number, block.said, "no priority-flow-control that is known")
        said[match.group(1) or ""] = block
    enabled = {subject for subject, block in said.items() if "enable" in block.words}
    paused = tuple(sorted(int(at) for at in enabled if at)) if "" in enabled else ()
    line = config.quote(text, *said.values()) or config.without(text, "dcb priority-flow-control")
    return SwitchPort(
        "",
        pfc=Told(paused, line),
        trust=Told(frozenset((PCP,)), f"{config.without(text, 'qos trust')}: L2 is the default"),
        classes=Told({at: TrafficClass(at // 8, at // 8, f"{text.name}: the default maps") for at in DSCPS}),
        ecn=Told(frozenset(), config.without(text, "congestion-control ecn of a traffic-class")),
    )


def _pfc(roce: _Roce, mode: str, mode_line: str) -> Told[tuple[int, ...]]:
    """Only both ways are a pause: semi-lossless obeys pauses and sends none."""
    said, line = roce.told("PFC")
    if said not in ("enabled", "disabled"):
        raise roce.text.refuse(0, line, "neither enabled nor disabled")
    if not _MODES[mode] or said == "disabled":
        return Told((), mode_line if said == "enabled" else line)
    listed = {at: roce.lines.get(f"switch-priority {at}") for at in PRIORITIES}
    paused = {at: one[1] for at, one in listed.items() if one is not None and one[0] == "enabled"}
    if not paused:
        return Told(why=f"{line}, and no switch-priority below it")
    return Told(tuple(paused), "; ".join(paused.values()))


def _configuration(text: Text) -> tuple[str, list[Block]]:
    head, lines = config.lines_of(text, HEAD, _COMMAND)
    whole = list(enumerate(lines, 1))[head:]
    names = [match.group(1) for _number, line in whole[:5] if (match := _NAME.fullmatch(line))]
    kept = [(number, line.strip()) for number, line in whole if not line.strip().startswith("#")]
    last = max((at for at, (_number, line) in enumerate(kept) if line), default=0)
    # The first such line is of this listing, the last of what the switch keeps.
    modes = [at for at, (_number, line) in enumerate(kept) if _LAST.fullmatch(line)]
    if len(modes) != 2 or modes[1] != last:
        raise text.refuse(len(lines), "", "no `cli default prefix-modes enable` at the end: it was cut")
    return (names or [""])[0], [Block(number, tuple(line.split())) for number, line in kept if line]


def _ports(text: Text, block: Block) -> Iterator[str]:
    """``1/1``, and every port of ``1/1-1/16``."""
    said = block.words[2] if len(block.words) > 2 else ""
    match = _RANGE.fullmatch(said)
    if match is None or len(said) > 40:
        raise text.refuse(block.number, block.said, "no port that is known")
    before, first, other, last = match.groups()
    end = int(last or first)
    if (other is not None and other != before) or not 0 <= end - int(first) < _MOST:
        raise text.refuse(block.number, block.said, "no range of ports of a module")
    return (f"{before}{at}" for at in range(int(first), end + 1))


def _own(text: Text, block: Block, port: SwitchPort) -> SwitchPort | None:
    """The port with what its line sets by hand; None for a line that nobody here follows."""
    line = config.quote(text, block)
    mode, marks = _MODE.fullmatch(block.said), _MARKS.fullmatch(block.said)
    if (block.words[0] == "dcb" and mode is None) or ("congestion-control" in block.words and marks is None):
        raise text.refuse(block.number, block.said, "no flow control or congestion-control that is known")
    if mode is not None and port.pfc.value:
        told: dict[str, Told[tuple[int, ...]]] = {
            "on": Told(port.pfc.value, f"{line}; {port.pfc.line}"),
            "off": Told((), line),
            "auto": Told(why=f"{line}: nothing tells what was negotiated"),
        }
        return replace(port, pfc=told[mode.group(1)])
    if marks is not None and port.ecn.value is not None:
        klass = frozenset((int(marks.group(1)),))
        marking = port.ecn.value - klass
        return replace(port, ecn=Told(marking if marks.group(2) == "red" else marking | klass, line))
    return port if mode or marks or block.words[0] in _BUFFERS or _HARMLESS.fullmatch(block.said) else None


def _port(text: Text, name: str, lines: list[Block], of_switch: SwitchPort, by_hand: bool) -> SwitchPort:
    mtu: Told[int] = Told(1500, f"{config.without(text, f'mtu of {name}')}: the default")
    found = of_switch
    if any(one.words[:1] and one.words[0] in _MEMBER for one in lines):
        # What the port channel says holds for it, and nobody here reads that.
        lost = f"{text.name}: {name} is in a port channel"
        mtu = Told(why=lost)
        if by_hand:
            found = replace(found, pfc=Told(why=lost), trust=Told(why=lost), classes=Told(why=lost), ecn=Told(why=lost))
    for block in lines:
        words = tuple(word for word in block.words if word != "force")
        shown = Block(block.number, words)
        if words[:1] == ("no",) and words[1:2] and words[1] in ("mtu", *_MEMBER, *_SETS):
            raise text.refuse(block.number, block.said, "a default that is written out: nobody here follows that")
        if words[:1] == ("mtu",):
            mtu = config.mtu_of(text, shown)
        elif words[:2] == ("qos", "trust") and found.trust.value is not None:
            if words[2:] not in {(mode,) for mode in _TRUST}:
                raise text.refuse(block.number, block.said, f"no trust that is known: {', '.join(_TRUST)}")
            found = replace(found, trust=Told(frozenset(_TRUST[words[2]]), config.quote(text, shown)))
        elif words[:1] and words[0] in _SETS:
            own = _own(text, shown, found) if by_hand else None
            if own is not None:
                found = own
                continue
            why = f"{config.quote(text, shown)}: set on {name} alone, and nobody here follows that"
            found = replace(found, pfc=Told(why=why), classes=Told(why=why), ecn=Told(why=why))
    if by_hand and found.pfc.value and not any(block.words[:3] == _PFC_MODE for block in lines):
        why = f"{config.without(text, f'dcb priority-flow-control mode of {name}')}: nothing tells whether it pauses"
        found = replace(found, pfc=Told(why=why))
    shorts = (f"eth{name}", f"ethernet {name}", f"ethernet{name}", name)
    return replace(found, name=f"Eth{name}", names=frozenset(shorts), mtu=mtu, watchdog=Told(why=_SILENT))
