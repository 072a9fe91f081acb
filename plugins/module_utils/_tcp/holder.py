# SPDX-License-Identifier: GPL-3.0-or-later
"""Who on this host has a TCP port that we wanted."""

from __future__ import annotations

import ipaddress
import sys

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"


def holder(evidence: Evidence, port: int) -> str:
    """In words: ``torchrun[4711] on 127.0.0.1``, or as much of it as can be seen."""
    connected = False
    for path in _TABLES:
        for local, state, inode in _rows(evidence, path):
            address, _colon, number = local.partition(":")
            if int(number, 16) != port:
                continue
            if state == _LISTENS:
                return f"{_program(evidence, inode)} on {_text(address)}"
            connected = True
    # The port of a connection that a program of this host opened: nobody listens there.
    return "a connection that is open" if connected else "another process"


def _rows(evidence: Evidence, path: str) -> list[tuple[str, str, str]]:
    """Local address, state and inode of every socket; none where the table cannot be read."""
    try:
        lines = evidence.read(path).splitlines()[1:]
    except Unavailable:
        return []
    rows = [line.split() for line in lines]
    return [(row[1], row[3], row[9]) for row in rows if len(row) > 9]


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
    raw = b"".join(
        int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8)
    )
    found = ipaddress.ip_address(raw)
    return "every address" if found.is_unspecified else str(found)
