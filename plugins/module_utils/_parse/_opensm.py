# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of opensm, and of nvlsm which is made of it, and what each tells.

Sources: opensm 3.3.23 (osm_log.c and every message of its program), read; logs of OpenSM 5.21.12 and of
NVLSM 2025.06 that others posted. Confidence: confirmed where a test has the message.
"""

from __future__ import annotations

import re

STATE = "state"
UP = "up"
SWEEP = "sweep"
INIT_ERRORS = "init errors"
SM_PORT_DOWN = "sm port down"
ROUTING = "routing"
VERSION = "version"
ERROR = "error"
TIMEOUT = "timeout"
TRAP = "trap"
PORT_CHANGE = "port change"
REMOVED = "removed"
DUPLICATE = "duplicate"
DISABLED = "disabled"
OTHER = "other"
MORE = ("others",)
# Marks a message of the level of errors that has no number.
UNNUMBERED = "\0"

_TIME = r"[A-Z][a-z]{2} [0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
# "Jun 17 16:47:41 444761 [3DA006C0] 0x80 -> Entering MASTER state"; on Windows "[16:47:41:444][0A1C] 0x80 -> ...".
RECORD = re.compile(
    rf"(?:OpenSM ?\$ ?)?(?:({_TIME}) [0-9]{{6}} \[[0-9A-F]{{4,16}}\]"
    r"|\[([0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3})\]\[[0-9A-F]{4,16}\])"
    r" (0x[0-9a-f]{2}) -> ?(.*)"
)
# A record whose end is missing.
BEGUN = re.compile(rf"{_TIME}(?: [0-9]{{1,6}}(?: \[[0-9A-F]{{0,16}}\]?(?: (?:0(?:x[0-9a-f]{{0,2}}(?: -?)?)?)?)?)?)?")
_SYSLOG = re.compile(
    rf"(?:({_TIME})|[0-9]{{4}}-[0-9-]{{5}}T\S{{8,30}}) [\w.-]{{1,253}}"
    r" (OpenSM|opensm|nvlsm)(?:\[[0-9]{1,9}\])?: ?(.*)"
)
_PROGRAM = re.compile(r"(nvlsm|opensm|OpenSM)(?:\[[0-9]{1,9}\])?: ?(.*)")
# What it tells syslog and its terminal, and nobody else says.
PLAIN = re.compile(
    r"(?:Entering (?:DISCOVERING|MASTER|STANDBY|NOT-ACTIVE|INIT|NOT ACTIVE) state"
    r"|OpenSM [0-9][\w.-]{2,80}|SUBNET UP|Errors during initialization)$"
    r"|[a-z]\w{4,60}: ERR [0-9A-F]{4}: "
)
# A unit's status shows a few of its messages, and is another parser's.
UNIT = re.compile(r"(?:[^\w\s] )?nvidia-fabricmanager\.service - ")
# Which node it is that a GUID belongs to stands below the error.
NODE = "Node 0x"
# Lines that belong to the record before them.
CONTINUED = re.compile(
    r"\*{20}|Method 0x|(?:Subn|Perf)[A-Z][A-Za-z]{1,40}\(|Node 0x[0-9a-f]{1,16} port|Paths are:"
    r"|[0-9]{1,3}(?:,[0-9]{1,3}){0,64}$|GUID 0x|for parent node|block |-{10,99}$"
    r"|Command Line Arguments|Log File: |d level = |Debug mode|Activate '"
    r"|AR Manager - |Using default GUID|OpenSM ?\$ ?$|ibwarn: "
)
# IBA's numbers: link integrity, buffer overrun, flow control, and keys that do not fit.
BAD_TRAPS = ("129", "130", "131", "256", "257", "258", "259")

_ERR = re.compile(r"(?:([\w:. ]{0,60}?): )?ERR ([0-9A-Z]{4}):? ?(.*)")
_STATE = re.compile(r"Entering ([A-Z][A-Z -]{2,20}) state|ENTERING SM ([A-Z-]{3,20}) STATE")
_VERSION = re.compile(r"OpenSM ([0-9][\w.-]{2,80})")
_TABLES = re.compile(r"\w{1,60}: (\w{1,40}) tables configured on all switches")
_TRAP = re.compile(
    r"(?:\w{1,60}: )?Received Generic Notice type:[0-9]{1,3} num:([0-9]{1,5}) \(([^()]{1,80}(?:\([^()]{0,40}\))?)\)"
    r" Producer:[0-9]{1,3} \([^()]{0,40}\) from LID:([0-9]{1,6})(?: Port ([0-9]{1,3}))?"
)
_CHANGE = re.compile(
    r"(?:\w{1,60}: )?Switch (0x[0-9a-fA-F]{1,16}) (.{0,100}?) ?port ([0-9]{1,3})"
    r" changed state from (\w{2,20}) to (\w{2,20})"
)
_REMOVED = re.compile(
    r"(?:\w{1,60}: )?Removed port with GUID:(0x[0-9a-fA-F]{1,16}) LID range \[[^\]]{1,20}\] of node:(.{0,100})"
)
_DISABLED = re.compile(
    r"(?:\w{1,60}: )?(?:ERR 3810: )?Disabling (?:noisy )?physical port (0x[0-9a-fA-F]{1,16})"
    r"(?::? lid [0-9]{1,6},)? num:? ?([0-9]{1,3})"
)
_DUPLICATE = re.compile(r"(?:found )?duplicated? (?:alias )?(?:node|port)? ?GUID\b|Duplicate GUID found", re.IGNORECASE)
_GUID = re.compile(r"0x[0-9a-fA-F]{6,16}")
_ATTRIBUTE = re.compile(r"(?:Subn|Perf)[A-Z][A-Za-z]{1,30}\(([A-Za-z0-9]{2,40})\)")
_CHANGING = re.compile(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,20}")
# One question without an answer is three errors; 3113 is the one that always is there.
_OF_TIMEOUTS = ("5409", "5410", "5411", "3120")


def unprefixed(line: str) -> tuple[str, str, str]:
    """The program and the time that syslog put before a message, "" without, and the message."""
    found = _SYSLOG.fullmatch(line)
    if found is not None:
        return found.group(2), found.group(1) or "", found.group(3)
    found = _PROGRAM.fullmatch(line)
    return ("", "", line) if found is None else (found.group(1), "", found.group(2))


def event_of(message: str) -> tuple[str, tuple[str, ...]] | None:
    """The kind of a message, and what tells it from others of the kind; None where it is of no interest."""
    if message.startswith(UNNUMBERED):
        return _unnumbered(message[len(UNNUMBERED) :])
    plain = _plain(message)
    if plain is not None:
        return plain
    for kind, pattern in _PATTERNS:
        found = pattern.match(message)
        if found is not None:
            return kind, tuple(group or "" for group in found.groups())
    error = _ERR.match(message)
    return None if error is None else _numbered(error)


def is_duplicate(message: str) -> bool:
    """Whether the message is of a GUID that two nodes or ports have."""
    return _DUPLICATE.search(message[:200]) is not None


def duplicate(message: str, node: str) -> tuple[str, str]:
    """The GUID, and where it is, by what stands in the message and by the line below it."""
    guid = _GUID.search(f"{message} {node}")
    return (guid.group() if guid else "", node)


_PATTERNS = ((TRAP, _TRAP), (PORT_CHANGE, _CHANGE), (REMOVED, _REMOVED), (DISABLED, _DISABLED))


def _plain(message: str) -> tuple[str, tuple[str, ...]] | None:
    """The messages that are one sentence."""
    state, version, tables = _STATE.fullmatch(message), _VERSION.fullmatch(message), _TABLES.fullmatch(message)
    if state is not None:
        return STATE, (state.group(1) or state.group(2),)
    if version is not None:
        return VERSION, (version.group(1),)
    if tables is not None:
        return ROUTING, (tables.group(1),)
    if message.startswith("SUBNET UP"):
        return UP, ()
    if message == "Errors during initialization":
        return INIT_ERRORS, ()
    if "Entering heavy sweep" in message[:80]:
        return SWEEP, ()
    return (SM_PORT_DOWN, ()) if message[-40:].endswith(("SM port is down", "SM PORT DOWN")) else None


def _numbered(error: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    where, code, text = error.group(1) or "", error.group(2), error.group(3)
    if code in _OF_TIMEOUTS and ("TIMEOUT" in text[:120] or text.startswith(("Timeout while", "send completed with"))):
        return OTHER, (code,)
    if "TIMEOUT" in text[:120]:
        attribute = _ATTRIBUTE.search(text[:300])
        return TIMEOUT, (attribute.group(1) if attribute else "",)
    return ERROR, (code, where)


def _unnumbered(message: str) -> tuple[str, tuple[str, ...]] | None:
    if message.startswith(("Received SMP on a", "Directed Path", "Initial path", "Return path")):
        return OTHER, ("path",)
    where, colon, _text = message.partition(": ")
    return ERROR, ("", _CHANGING.sub("N", message[:120]) if not colon else where)
