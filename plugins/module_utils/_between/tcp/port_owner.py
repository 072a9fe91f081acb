# SPDX-License-Identifier: GPL-3.0-or-later
"""Which TCP ports of this host somebody listens on, and who has one that we wanted."""

from __future__ import annotations

import ipaddress
import re
import sys

from ..._evidence.sources import Evidence, Unavailable

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"
# Number, local address and port, remote ones, state, two pairs of queues and timers, what is
# retransmitted, uid, timeout, inode.
_ROW = re.compile(r" *\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2})(?: +\S+){5} +(\d+)", re.A)


def holder(evidence: Evidence, port: int) -> str:
    """In words: ``torchrun[4711] on 127.0.0.1``, or as much of it as can be seen."""
    connected = False
    for path in _TABLES:
        for address, number, state, inode in _rows(evidence, path):
            if number != port:
                continue
            if state == _LISTENS:
                return f"{_program(evidence, inode)} on {_text(address)}"
            connected = True
    # The port of a connection that a program of this host opened: nobody listens there.
    return "a connection that is open" if connected else "another process"


def listening(evidence: Evidence) -> frozenset[int]:
    """The ports on which somebody listens; none of a table that cannot be read."""
    rows = [row for path in _TABLES for row in _rows(evidence, path)]
    return frozenset(port for _address, port, state, _inode in rows if state == _LISTENS)


def _rows(evidence: Evidence, path: str) -> list[tuple[str, int, str, str]]:
    """Local address, port, state and inode of every socket; none of a table or row not read."""
    try:
        lines = evidence.read(path).splitlines()[1:]
    except Unavailable:
        return []
    found = [_ROW.match(line) for line in lines]
    return [(row[1], int(row[2], 16), row[3], row[4]) for row in found if row]


def _program(evidence: Evidence, inode: str) -> str:
    """The process that has the socket open; others' can only be seen by root."""
    for pid in _list(evidence, "/proc"):
        if not pid.isdigit():
            continue
        for number in _list(evidence, f"/proc/{pid}/fd"):
            try:
                if evidence.link(f"/proc/{pid}/fd/{number}") != f"socket:[{inode}]":
                    continue
                return f"{evidence.read(f'/proc/{pid}/comm').strip()}[{pid}]"
            except Unavailable:
                continue  # It has ended, or closed it.
    return "another process"


def _list(evidence: Evidence, path: str) -> list[str]:
    try:
        return evidence.list(path)
    except Unavailable:
        return []


def _text(address: str) -> str:
    """The kernel writes the words of an address in this machine's order of bytes."""
    raw = b"".join(int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8))
    found = ipaddress.ip_address(raw)
    return "every address" if found.is_unspecified else str(found)
