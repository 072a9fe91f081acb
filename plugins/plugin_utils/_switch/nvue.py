# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what NVUE prints on Cumulus Linux: ``nv show qos roce``, ``nv show interface`` and, of a port that is set up
otherwise than the switch, ``nv show interface PORT qos roce status``. As text; its JSON is not read.

Formats: CumulusNetworks/docs, content/nvue-reference/Show-Commands/Interface.md, and content/cumulus-linux-*/
Layer-1-and-Switch-Ports/Quality-of-Service/RDMA-over-Converged-Ethernet-RoCE.md; confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...module_utils._ground.text import clean_lines, ends_early
from .port import DSCP, DSCPS, PCP, PRIORITIES, SwitchPort, Text, Told, TrafficClass, numbers

_TRUST = {DSCP: DSCP, PCP: PCP, "l3": DSCP, "l2": PCP}
_ON = ("enabled", "yes", "on")
_OFF = ("disabled", "off")
# Whether RoCE is on: a release prints one of these.
_SWITCH = ("state", "enable")
_RULE = re.compile(r"[-…]{2,}")
_MAPS = "RoCE PCP/DSCP->SP mapping configurations"
_CLASSES = "RoCE SP->TC mapping and ETS configurations"
_MTUS = range(68, 65576)
_SWITCHED_OFF = "RoCE is switched off on the switch (nv set qos roce)"


@dataclass(frozen=True)
class _Line:
    number: int
    words: tuple[str, ...]
    said: str


@dataclass(frozen=True)
class _Shown:
    """``values``: by section and name, as ``pfc/pfc-priority``; ``tables``: the rows below a title."""

    text: Text
    values: Mapping[str, tuple[str, int, str]]
    tables: Mapping[str, tuple[_Line, ...]]

    def value(self, name: str) -> str:
        return self.values.get(name, ("", 0, ""))[0]

    def quote(self, *names: str) -> str:
        known = [self.values[name] for name in names if name in self.values]
        return "; ".join(self.text.line(line_no, said) for _value, line_no, said in known)

    def numbers(self, name: str, within: range) -> tuple[int, ...]:
        value, line_no, said = self.values.get(name, ("", 0, ""))
        try:
            return numbers(value, within)
        except ValueError as exc:
            raise self.text.refuse(line_no, said, str(exc)) from exc


def roce(text: Text) -> SwitchPort:
    """What holds for a port, or for every port of the switch, whose names it does not tell."""
    shown = _read(text)
    off = next((name for name in _SWITCH if shown.value(name) in _OFF), "")
    if off:
        line = shown.quote(off)
        lost: Told[frozenset[str]] = Told(why=_SWITCHED_OFF)
        return SwitchPort(
            "", pfc=Told((), line), ecn=Told(frozenset(), line), trust=lost, classes=Told(why=_SWITCHED_OFF)
        )
    if not shown.value("mode"):
        raise text.refuse(0, "", "no line 'mode': not what `nv show qos roce` prints")
    return SwitchPort("", pfc=_pfc(shown), trust=_trust(shown), classes=_classes(shown), ecn=_ecn(shown))


def _read(text: Text) -> _Shown:
    values: dict[str, tuple[str, int, str]] = {}
    tables: dict[str, list[_Line]] = {}
    spans: list[int] = []
    title, section = "", ""
    lines = _lines(text)
    for line_no, line in enumerate(lines, 1):
        words = line.split()
        if not words or set(line.strip()) == {"="}:
            continue
        if line_no < len(lines) and set(lines[line_no].strip()) == {"="}:
            title = line.strip()
        elif title:
            # Below a title: a head, a rule, and rows that begin with a number or a name of their own.
            if not _RULE.match(words[0]) and words[0] != "-" and not line.strip().startswith(("pcp", "switch-prio")):
                tables.setdefault(title, []).append(_Line(line_no, tuple(words), line))
        elif all(_RULE.fullmatch(word) for word in words):
            spans = [match.start() for match in _RULE.finditer(line)]
        elif len(spans) >= 2:
            name = line[: spans[1]].strip()
            rest = [line[at:end].strip() for at, end in zip(spans[1:3], [*spans[2:3], None], strict=False)]
            value = next((word for word in rest if word), "")
            section = section if line[:1] == " " else name
            key = f"{section}/{name}" if line[:1] == " " else name
            values[key] = (value, line_no, line)
    if not values:
        raise text.refuse(1 if lines else 0, lines[0] if lines else "", "no table with a rule of dashes below its head")
    return _Shown(text, values, {name: tuple(rows) for name, rows in tables.items()})


def _lines(text: Text) -> list[str]:
    """All lines of a text that has its end: a word or a number at a cut may go on."""
    lines = clean_lines(text.text)
    if ends_early(text.text):
        raise text.refuse(len(lines), lines[-1], "the text ends within this line: it was cut")
    return lines


def _pfc(shown: _Shown) -> Told[tuple[int, ...]]:
    if "pfc/pfc-priority" not in shown.values:
        return Told(why=f"{shown.text.name}: no pfc-priority")
    found = shown.numbers("pfc/pfc-priority", PRIORITIES)
    ways = ("pfc/rx-enabled", "pfc/tx-enabled")
    lost = [name for name in ways if found and not shown.value(name)]
    if lost:
        return Told(why=f"{shown.text.name}: no {lost[0].partition('/')[2]}")
    silent = [name for name in ways if found and shown.value(name) not in _ON]
    return Told(() if silent else found, shown.quote("pfc/pfc-priority", *silent))


def _trust(shown: _Shown) -> Told[frozenset[str]]:
    said, line_no, line = shown.values.get("trust/trust-mode", ("", 0, ""))
    if not said:
        return Told(why=f"{shown.text.name}: no trust-mode")
    words = [word.strip().lower() for word in said.split(",")]
    if not all(word in _TRUST for word in words):
        raise shown.text.refuse(line_no, line, f"{said!r} is no trust that is known: {', '.join(_TRUST)}")
    return Told(frozenset(_TRUST[word] for word in words), shown.quote("trust/trust-mode"))


def _ecn(shown: _Shown) -> Told[frozenset[int]]:
    mode = "congestion-control/congestion-mode"
    if mode not in shown.values:
        return Told(why=f"{shown.text.name}: no congestion-mode")
    if "ecn" not in shown.value(mode).lower():
        return Told(frozenset(), shown.quote(mode))
    queues = "congestion-control/enabled-tc"
    return Told(frozenset(shown.numbers(queues, PRIORITIES)), shown.quote(mode, queues))


def _classes(shown: _Shown) -> Told[Mapping[int, TrafficClass]]:
    lost = [title for title in (_MAPS, _CLASSES) if not shown.tables.get(title)]
    if lost:
        return Told(why=f"{shown.text.name}: no table {lost[0]!r}")
    queues = {line.words[1]: (line.words[2], line) for line in _rows(shown, _CLASSES, 4)}
    found: dict[int, TrafficClass] = {}
    for line in _rows(shown, _MAPS, 4):
        priority = _number(shown.text, line, line.words[3])
        queue, other = queues.get(line.words[3], ("", None))
        leads = None if other is None else _number(shown.text, other, queue)
        quoted = [shown.text.line(line.number, line.said)]
        quoted += [] if other is None or leads == priority else [shown.text.line(other.number, other.said)]
        try:
            marks = numbers(line.words[2], DSCPS)
        except ValueError as exc:
            raise shown.text.refuse(line.number, line.said, str(exc)) from exc
        found.update(dict.fromkeys(marks, TrafficClass(priority, leads, "; ".join(quoted))))
    return Told(found)


def _rows(shown: _Shown, title: str, least: int) -> Iterator[_Line]:
    for line in shown.tables[title]:
        if len(line.words) < least:
            raise shown.text.refuse(line.number, line.said, f"fewer than {least} columns below {title!r}")
        yield line


def _number(text: Text, line: _Line, word: str) -> int:
    if word not in map(str, PRIORITIES):
        raise text.refuse(line.number, line.said, f"{word[:40]!r} is no priority")
    return int(word)


def interfaces(text: Text) -> dict[str, SwitchPort]:
    """The ports of ``nv show interface``, each with its MTU and who is behind it."""
    lines = _lines(text)
    at = next((number for number, line in enumerate(lines) if _is_rule(line)), 0)
    starts = [match.start() for match in _RULE.finditer(lines[at])] if at else []
    heads = [_cell(lines[at - 1], starts, column) for column in range(len(starts))]
    if "Interface" not in heads or "MTU" not in heads:
        raise text.refuse(at, lines[at - 1] if at else "", "no columns Interface and MTU over a rule of dashes")
    columns = {name: heads.index(name) for name in ("Interface", "MTU", "Remote Host", "Remote Port") if name in heads}
    found: dict[str, SwitchPort] = {}
    for line_no, line in enumerate(lines[at + 1 :], at + 2):
        cells = {name: _cell(line, starts, column) for name, column in columns.items()}
        name = cells["Interface"]
        if not name or name == "...":
            continue
        mtu = cells["MTU"]
        if not (mtu.isascii() and mtu.isdecimal() and len(mtu) < 6 and int(mtu) in _MTUS):
            raise text.refuse(line_no, line, f"{mtu[:40]!r} is no MTU")
        if name in found:
            raise text.refuse(line_no, line, f"{name} is there twice")
        remote = [cells.get(column, "").lower() for column in ("Remote Host", "Remote Port")]
        whole = not any(word.endswith("…") for word in remote)
        there = (remote[0], remote[1]) if whole else ("", "")
        found[name] = SwitchPort(name, frozenset((name.lower(),)), there, mtu=Told(int(mtu), text.line(line_no, line)))
    if not found:
        raise text.refuse(at, lines[at], "no interface below it")
    return found


def _is_rule(line: str) -> bool:
    return bool(line.split()) and all(_RULE.fullmatch(word) for word in line.split())


def _cell(line: str, starts: list[int], column: int) -> str:
    end = starts[column + 1] if column + 1 < len(starts) else None
    return line[starts[column] : end].strip()


def joined(ports: Mapping[str, SwitchPort], switch: SwitchPort, own: Mapping[str, SwitchPort]) -> dict[str, SwitchPort]:
    """Every port with what holds for the switch, or for itself where that was shown."""
    found: dict[str, SwitchPort] = {}
    for name, port in ports.items():
        mine = own.get(name, switch)
        found[name] = replace(port, pfc=mine.pfc, trust=mine.trust, classes=mine.classes, ecn=mine.ecn)
    return found
