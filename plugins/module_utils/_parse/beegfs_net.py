# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the servers of a BeeGFS client and its connections to them.

What the kernel module shows in /proc/fs/beegfs/CLIENT/storage_nodes (meta_nodes, mgmt_nodes), and
beegfs-net of BeeGFS 7 prints with a heading above each. Source: ProcFsHelper.c of the client
module. The addresses that it shows are those of the first connection of a kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines

_TOOL = "beegfs_net"
KINDS = ("mgmt_nodes", "meta_nodes", "storage_nodes")
NONE = "<none>"
_NODE = re.compile(r"(\S{1,255})\s{1,99}\[ID:\s{1,99}([0-9]{1,10})\]")
_LABEL = "Connections:"
_CONNECTION = re.compile(
    r"(TCP|SDP|RDMA):\s{1,99}([0-9]{1,9})"
    r"(?:\s{1,99}\(([^()\[\];\s]{0,80})(\s{1,99}\[fallback\s{1,99}route\])?\))?"
)


@dataclass(frozen=True)
class Connections:
    """``kind``: TCP, SDP or RDMA. ``address``: of one of them, "" where not shown. ``fallback``:
    that one goes another way than the server's first."""

    kind: str
    count: int
    address: str = ""
    fallback: bool = False


@dataclass(frozen=True)
class BeegfsNode:
    """A server; ``role``: a word of KINDS, "" where no heading tells."""

    name: str
    number: int
    role: str
    connections: tuple[Connections, ...]


def parse(text: str) -> tuple[BeegfsNode, ...]:
    """Every server, in the text's order; () for an empty file. ParseError on anything else."""
    found: list[BeegfsNode] = []
    role = ""
    opened: tuple[int, str, str, int] | None = None
    for line_no, line in enumerate(clean_lines(text), 1):
        words = line.strip()
        node = _NODE.fullmatch(words)
        if words in KINDS:
            role = words
        elif node is not None:
            if opened is not None:
                raise ParseError(_TOOL, opened[0], opened[1], "a server without its connections")
            opened = (line_no, line, node.group(1), int(node.group(2)))
        elif words.startswith(_LABEL):
            if opened is None:
                raise ParseError(_TOOL, line_no, line, "connections of no server")
            found.append(BeegfsNode(opened[2], opened[3], role, _connections(line_no, line)))
            opened = None
        elif words and not words.startswith(("Root:", "===")):
            raise ParseError(_TOOL, line_no, line, "neither a server nor its connections")
    if opened is not None:
        raise ParseError(_TOOL, opened[0], opened[1], "a server without its connections")
    return tuple(found)


def _connections(line_no: int, line: str) -> tuple[Connections, ...]:
    reported = line.strip()[len(_LABEL) :].strip().rstrip(";").strip()
    if reported == NONE:
        return ()
    found = []
    for part in reported.split(";"):
        match = _CONNECTION.fullmatch(part.strip())
        if match is None:
            raise ParseError(_TOOL, line_no, line, f"{part.strip()[:40]!r} is no connection")
        kind, count, address, fallback = match.groups()
        found.append(Connections(kind, int(count), address or "", fallback is not None))
    return tuple(found)
