# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the log of ``opensm``, and of ``nvlsm`` which is made of it: what happened, each kind with its times."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground.text import flat_lines, no_facts
from . import _opensm as told

_TOOL = "opensm_log"
NOTHING: dict[str, Any] = {
    "program": "",
    "version": "",
    "records": 0,
    "first": "",
    "last": "",
    "levels": {},
    "state": "",
    "states": [],
    "subnet_up": None,
    "sweeps": None,
    "init_errors": None,
    "sm_port_down": None,
    "routing": "",
    "errors": [],
    "timeouts": [],
    "traps": [],
    "port_changes": [],
    "removed": [],
    "duplicates": [],
    "disabled_ports": [],
    "unread": 0,
    "cut": False,
}
# So many of a kind are kept; what comes later is counted with the others of its kind, or left out.
_MOST = 200
_SHOWN = 50
_TOLD = 10
# A port that went down so often in one log flaps.
_FLAPS = 3


@dataclass(frozen=True)
class Seen:
    """One kind of event: what it is, how often it was logged, first and last when."""

    what: tuple[str, ...]
    count: int
    first: str
    last: str
    text: str = ""


@dataclass(frozen=True)
class OpensmLog:
    """``state``: the subnet manager's last one; "" where the log tells none.

    ``last_up``: whether the subnet came up after the last initialization that had errors.
    """

    program: str = ""
    version: str = ""
    records: int = 0
    first: str = ""
    last: str = ""
    levels: tuple[tuple[str, int], ...] = ()
    state: str = ""
    routing: str = ""
    events: tuple[tuple[str, tuple[Seen, ...]], ...] = ()
    last_up: bool = False
    unread: int = 0
    cut: bool = False

    def of(self, kind: str) -> tuple[Seen, ...]:
        """The events of a kind of _opensm, in the order in which they came first."""
        return dict(self.events).get(kind, ())


@dataclass
class _Kind:
    what: tuple[str, ...]
    text: str
    first: str
    last: str
    count: int = 0


@dataclass
class _Reading:
    program: str = ""
    version: str = ""
    records: int = 0
    first: str = ""
    last: str = ""
    state: str = ""
    routing: str = ""
    last_up: bool = False
    ours: bool = False
    unread: int = 0
    levels: dict[str, int] = field(default_factory=dict)
    events: dict[str, dict[tuple[str, ...], _Kind]] = field(default_factory=dict)

    def take(self, when: str, message: str) -> bool:
        """One message; whether it is one that this parser knows."""
        event = told.event_of(message)
        if event is None:
            return False
        kind, what = event
        if kind == told.STATE:
            self.state = what[0]
        elif kind == told.ROUTING:
            self.routing = what[0]
        elif kind == told.VERSION:
            self.version = what[0]
            return True
        elif kind == told.INIT_ERRORS:
            self.last_up = False
        elif kind == told.UP:
            self.last_up = True
        self.count(kind, what, when, message)
        return True

    def count(self, kind: str, what: tuple[str, ...], when: str, text: str) -> None:
        """Once more the same."""
        seen = self.events.setdefault(kind, {})
        if what not in seen:
            if len(seen) >= _MOST:
                what = told.MORE
            seen.setdefault(what, _Kind(what, text.lstrip(told.UNNUMBERED)[:300], when, when))
        seen[what].count += 1
        seen[what].last = when or seen[what].last


def parse(text: str) -> OpensmLog:
    """Read the log; raise ParseError where it holds not one record, and no message of syslog."""
    lines = flat_lines(text)
    reading = _Reading()
    filled = [line for line in lines if line]
    part = ""
    for line, below in zip(filled, [*filled[1:], ""]):
        program, when, rest = told.unprefixed(line)
        reading.program = program or reading.program
        record = told.RECORD.match(rest)
        part = ""
        node = below if below.startswith(told.NODE) else ""
        if record is not None:
            _record(reading, record.group(1) or record.group(2), record.group(3), record.group(4), node)
        elif (program or told.PLAIN.match(rest)) and _taken(reading, when, rest, node):
            # To syslog and to its terminal it tells a few things without the rest of a record.
            reading.ours = True
        elif not program and not told.CONTINUED.match(rest):
            reading.unread += 1
            part = rest
    if not reading.records and (not reading.ours or any(told.UNIT.match(line) for line in filled)):
        raise no_facts(_TOOL, lines, "not one record of opensm or nvlsm", "empty log")
    events = tuple(
        (kind, tuple(Seen(one.what, one.count, one.first, one.last, one.text) for one in seen.values()))
        for kind, seen in reading.events.items()
    )
    return OpensmLog(
        reading.program,
        reading.version,
        reading.records,
        reading.first,
        reading.last,
        tuple(reading.levels.items()),
        reading.state,
        reading.routing,
        events,
        reading.last_up,
        reading.unread,
        told.BEGUN.fullmatch(part) is not None,
    )


def _record(reading: _Reading, when: str, level: str, message: str, node: str) -> None:
    reading.records += 1
    reading.first = reading.first or when
    reading.last = when
    reading.levels[level] = reading.levels.get(level, 0) + 1
    if not _taken(reading, when, message, node) and int(level, 16) & 1:
        # Its level of errors has messages without a number as well.
        reading.take(when, f"{told.UNNUMBERED}{message}")


def _taken(reading: _Reading, when: str, message: str, node: str) -> bool:
    if not told.is_duplicate(message):
        return reading.take(when, message)
    reading.count(told.DUPLICATE, told.duplicate(message, node), when, message)
    return True


def facts(parsed: OpensmLog) -> dict[str, Any]:
    """As docs/parsers.md has it: of each kind the first entries, with counts and times."""
    return {
        "program": parsed.program,
        "version": parsed.version,
        "records": parsed.records,
        "first": parsed.first,
        "last": parsed.last,
        "levels": dict(parsed.levels),
        "state": parsed.state,
        "states": _shown(parsed, told.STATE, ("state",)),
        "subnet_up": _once(parsed, told.UP),
        "sweeps": _once(parsed, told.SWEEP),
        "init_errors": _once(parsed, told.INIT_ERRORS),
        "sm_port_down": _once(parsed, told.SM_PORT_DOWN),
        "routing": parsed.routing,
        "errors": _shown(parsed, told.ERROR, ("code", "where"), text=True),
        "timeouts": _shown(parsed, told.TIMEOUT, ("attribute",)),
        "traps": _shown(parsed, told.TRAP, ("number", "name", "lid", "port")),
        "port_changes": _shown(parsed, told.PORT_CHANGE, ("guid", "node", "port", "before", "after")),
        "removed": _shown(parsed, told.REMOVED, ("guid", "node")),
        "duplicates": _shown(parsed, told.DUPLICATE, ("guid", "where"), text=True),
        "disabled_ports": _shown(parsed, told.DISABLED, ("guid", "port")),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: OpensmLog) -> tuple[str, ...]:
    """What the subnet manager itself calls an error, and ports that go down again and again; worst first."""
    found = [
        f"a GUID is there more than once: {' '.join([seen.text, *seen.what[1:]]).strip()}{_often(seen)}"
        for seen in _of(parsed, told.DUPLICATE)
    ]
    if not parsed.last_up:
        found += [f"errors in the initialization of the subnet{_often(seen)}" for seen in _of(parsed, told.INIT_ERRORS)]
    found += [f"the port of the subnet manager was down{_often(seen)}" for seen in _of(parsed, told.SM_PORT_DOWN)]
    found += [
        f"the subnet manager disabled port {port} of {guid}, which sent one trap again and again"
        for guid, port in (seen.what for seen in _of(parsed, told.DISABLED) if len(seen.what) == 2)
    ]
    found += [_trap(seen) for seen in _of(parsed, told.TRAP) if seen.what[0] in told.BAD_TRAPS]
    found += _flaps(parsed)
    found += [
        f"nobody answered the subnet manager's {seen.what[0] or 'question'}{_often(seen)}"
        for seen in _of(parsed, told.TIMEOUT)
    ]
    errors = sorted(parsed.of(told.ERROR), key=lambda seen: -seen.count)
    found += [f"{_number(seen)}{seen.text}{_often(seen)}" for seen in errors[:_TOLD]]
    if len(errors) > _TOLD:
        found.append(f"{len(errors) - _TOLD} more kinds of errors")
    return tuple(dict.fromkeys(found))


def _of(parsed: OpensmLog, kind: str) -> tuple[Seen, ...]:
    return parsed.of(kind)[:_TOLD]


def _often(seen: Seen) -> str:
    if seen.count == 1:
        return f" ({seen.first})" if seen.first else ""
    times = f", {seen.first} to {seen.last}" if seen.first else ""
    return f" ({seen.count} times{times})"


def _number(seen: Seen) -> str:
    return "" if seen.text.startswith("ERR ") or "ERR " in seen.text[:80] else "error: "


def _trap(seen: Seen) -> str:
    number, name, lid, port = seen.what
    where = f"LID {lid}" + (f" port {port}" if port else "")
    return f"trap {number} ({name}) from {where}{_often(seen)}"


def _flaps(parsed: OpensmLog) -> list[str]:
    """The ports that went down at least three times, and those whose nodes were lost as often."""
    down = [
        f"{seen.what[1] or seen.what[0]} port {seen.what[2]} went down {seen.count} times, {seen.first} to {seen.last}"
        for seen in parsed.of(told.PORT_CHANGE)
        if seen.count >= _FLAPS and seen.what[-1:] == ("DOWN",)
    ]
    lost = [
        f"{seen.what[1]} ({seen.what[0]}) left the fabric {seen.count} times, {seen.first} to {seen.last}"
        for seen in parsed.of(told.REMOVED)
        if seen.count >= _FLAPS and seen.what != told.MORE
    ]
    return [*down[:_TOLD], *lost[:_TOLD]]


def _once(parsed: OpensmLog, kind: str) -> dict[str, Any] | None:
    seen = parsed.of(kind)
    if not seen:
        return None
    return {"count": sum(one.count for one in seen), "first": seen[0].first, "last": seen[-1].last}


def _value(name: str, word: str) -> str | int | None:
    if name not in ("number", "lid", "port"):
        return word
    return int(word) if word.isdecimal() else None


def _shown(parsed: OpensmLog, kind: str, names: tuple[str, ...], *, text: bool = False) -> list[dict[str, Any]]:
    found = []
    for seen in parsed.of(kind)[:_SHOWN]:
        what = seen.what if seen.what != told.MORE else (*told.MORE, *[""] * len(names))
        entry: dict[str, Any] = {name: _value(name, word) for name, word in zip(names, what)}
        entry.update({key: value for key, value in asdict(seen).items() if key in ("count", "first", "last")})
        if text:
            entry["text"] = seen.text
        found.append(entry)
    return found
