# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``iblinkinfo`` prints: one line a port, below a header or (``-l``) without one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines, is_warning
from ._fabric import NAME, Strange, errors_only, tool_errors

_TOOL = "iblinkinfo"
NOTHING: dict[str, Any] = {"n_ports": 0, "state_counts": {}, "could_be_warnings": 0, "ports": []}
_LINK = "==("
_ARROW = "==>"
_NOT_AVAILABLE = '"Port not available"'
# A wrapped line may be spread over this many more; what is longer is no line of this tool.
_MORE_LINES = 3
_HEADER = re.compile(r"(CA|Switch|Router|\?\?):? (?:(0x[0-9a-fA-F]{1,16}) )?(.+)")
# Bounded: a guid, a name of at most 64 characters and its padding, LID, port and external port.
_LOCAL = re.compile(rf"(?:(0x[0-9a-fA-F]{{1,16}}) )?(?:{NAME} )?([0-9]{{1,10}}) ([0-9]{{1,3}})\[ ?[0-9]{{0,4}} ?\]")
# Behind the bracket ``-p`` prints the switch's settings in another one.
_STATE = re.compile(
    r"(?:([0-9]{1,2}X|undefined \([0-9]{1,5}\)) "
    r"(?:([0-9]{1,4}(?:\.[0-9]{1,6})?) Gbps(?: \(FDR10\))?|undefined \([0-9]{1,5}\)) )?"
    r"([A-Za-z]{1,30}|\?\?\?)/ ?([A-Za-z]{1,40}|\?\?\?)\)(?: ?\([^()]*\))?"
)
_REMOTE = re.compile(
    r'(?:(0x[0-9a-fA-F]{1,16}) )?([0-9]{1,10}) ([0-9]{1,3})\[ ?[0-9]{0,4} ?\] "(.*)" '
    r"\( ?(.*)\)"
)
_COULD_BE = "Could be "
# A link that is up in one of these has no routes, so it carries no data.
NOT_SET_UP = ("Initialize", "Init", "Armed")
# What a port does on its way up; one that is found there does not get up.
NOT_TRAINED = ("PortConfigurationTraining", "LinkErrorRecovery")


@dataclass(frozen=True)
class Peer:
    """The other end of a link; ``guid`` only from ``iblinkinfo -l``."""

    lid: int
    port: int
    name: str
    guid: str = ""


@dataclass(frozen=True)
class Port:
    """One end of a link. Width and speed (Gb/s a lane) are None where the tool told none.

    ``node_type`` and ``node`` come from the header, or with ``-l`` ``node`` from the line itself;
    ``could_be_*`` is what both ends could do where that is more than they do.
    """

    node_type: str
    node: str
    guid: str
    lid: int
    port: int
    width: str | None
    speed_gbps: float | None
    state: str
    phys: str
    remote: str
    peer: Peer | None
    could_be_width: str = ""
    could_be_speed: str = ""


@dataclass(frozen=True)
class Iblinkinfo:
    """Every port that was listed; or none, and what the tool complained of."""

    ports: tuple[Port, ...]
    error_lines: tuple[str, ...] = ()


def parse(text: str) -> Iblinkinfo:
    """Read the output of ``iblinkinfo``; raise ParseError where it gives neither port nor error."""
    lines = [line.strip() for line in clean_lines(text)]
    ports: dict[tuple[str, str, int, int], Port] = {}
    header = ("", "", "")
    place = 0
    strange = Strange()
    while place < len(lines):
        line_no, line = place + 1, lines[place]
        place += 1
        if line.startswith(("CA", "Switch", "Router", "??")) and (line.endswith(":") or _LINK not in line):
            header = _header(line) or header
        elif _LINK in line:
            whole, place = _unwrapped(lines, place)
            try:
                port = _port(line_no, line, whole, header)
            except ParseError as exc:
                strange.leave(exc)
                continue
            if ports.setdefault((port.guid, port.node, port.lid, port.port), port) != port:
                raise ParseError(_TOOL, line_no, line, "this port was already listed otherwise")
    left = strange.told(len(ports))
    if not ports:
        return Iblinkinfo((), errors_only(_TOOL, lines, "no port"))
    return Iblinkinfo(tuple(ports.values()), (*left, *tool_errors(lines, warnings=False)))


def facts(parsed: Iblinkinfo) -> dict[str, Any]:
    """The facts as JSON-ready values; ``error`` only where the tool could not look."""
    counts: dict[str, int] = {}
    for port in parsed.ports:
        state = f"{port.state}/{port.phys}"
        counts[state] = counts.get(state, 0) + 1
    found: dict[str, Any] = {
        "n_ports": len(parsed.ports),
        "state_counts": counts,
        "could_be_warnings": sum(bool(port.could_be_width or port.could_be_speed) for port in parsed.ports),
        "ports": [
            {
                "local_lid": port.lid,
                "local_port": port.port,
                "width": port.width,
                "speed_gbps": port.speed_gbps,
                "state": port.state,
                "phys": port.phys,
                "remote": port.remote,
            }
            for port in parsed.ports
        ],
        "error_lines": list(parsed.error_lines),
    }
    if not parsed.ports:
        found.update(error=True, n=0)
    return found


def _header(line: str) -> tuple[str, str, str] | None:
    """Type, GUID and name of a node; names may hold colons themselves."""
    match = _HEADER.fullmatch(" ".join(line.split()))
    if match is None or not match.group(3).endswith(":"):
        return None
    return match.group(1), match.group(2) or "", match.group(3)[:-1]


def _unwrapped(lines: list[str], place: int) -> tuple[str, int]:
    """The port's line, whole, and the place of the line behind it."""
    whole = lines[place - 1]
    if whole.startswith(_LINK) and place > 1:
        whole = f"{_before(lines, place - 1)} {whole}"
    taken = 0
    while taken < _MORE_LINES and place < len(lines) and not _complete(whole):
        more = lines[place]
        if _LINK in more or (more.endswith(":") and _header(more)):
            break
        if more and not is_warning(more):
            whole = f"{whole} {more}"
            taken += 1
        place += 1
    return whole, place


def _before(lines: list[str], place: int) -> str:
    """The last line above that is not empty: a wrapped port's LID and number."""
    for line in reversed(lines[max(0, place - 2) : place]):
        if line:
            return line
    return ""


def _complete(line: str) -> bool:
    remote = line.partition(_ARROW)[2]
    return remote.endswith((")", _NOT_AVAILABLE))


def _port(line_no: int, line: str, whole: str, header: tuple[str, str, str]) -> Port:
    local, _mark, rest = whole.partition(_LINK)
    link, arrow, remote = rest.partition(_ARROW)
    if not arrow:
        raise ParseError(_TOOL, line_no, line, f"cut before '{_ARROW}'")
    here = _LOCAL.fullmatch(" ".join(local.split()))
    if here is None:
        raise ParseError(_TOOL, line_no, line, f"not 'LID PORT[  ]' before '{_LINK}'")
    state = _STATE.fullmatch(" ".join(link.split()))
    if state is None:
        raise ParseError(_TOOL, line_no, line, "not '(WIDTH SPEED Gbps STATE/PHYSICAL STATE)'")
    peer, could_be = _remote(line_no, line, remote)
    width, speed = state.group(1), state.group(2)
    return Port(
        node_type=header[0],
        node=here.group(2).strip() if here.group(2) is not None else header[2],
        guid=here.group(1) or header[1],
        lid=int(here.group(3)),
        port=int(here.group(4)),
        width=width,
        speed_gbps=None if speed is None else float(speed),
        state=state.group(3),
        phys=state.group(4),
        remote=remote.strip(),
        peer=peer,
        could_be_width=could_be[0],
        could_be_speed=could_be[1],
    )


def _remote(line_no: int, line: str, text: str) -> tuple[Peer | None, tuple[str, str]]:
    flat = " ".join(text.split())
    if flat in ('[ ] "" ( )', '[] "" ( )', '[] "" ()', _NOT_AVAILABLE):
        return None, ("", "")
    # Only a text that ends like one is tried: no other could make the two ``.*`` search long.
    match = _REMOTE.fullmatch(flat) if flat.endswith(")") else None
    if match is None:
        raise ParseError(_TOOL, line_no, line, f"not 'LID PORT[  ] \"NAME\" ( )' after '{_ARROW}'")
    guid, lid, port, name, said = match.groups()
    return Peer(int(lid), int(port), name.strip(), guid or ""), _could_be(said)


def _could_be(said: str) -> tuple[str, str]:
    """Width and speed out of ``Could be 12X Could be 10.0 Gbps``."""
    width = speed = ""
    for part in said.split(_COULD_BE)[1:]:
        part = part.strip()
        if part.endswith("X"):
            width = part
        else:
            speed = part
    return width, speed
