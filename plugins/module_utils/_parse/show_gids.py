# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``show_gids`` prints: the GIDs of each RDMA port, with address, RoCE version and interface."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import flat_lines, no_facts

_TOOL = "show_gids"
NOTHING: dict[str, Any] = {"gids": [], "count": None, "unread": 0}

_ROW = re.compile(
    r"(?P<device>[A-Za-z][\w-]{1,62}) (?P<port>\d{1,3}) (?P<index>\d{1,4}) (?P<gid>(?:[0-9a-f]{4}:){7}[0-9a-f]{4})"
    r"(?: (?P<address>\d{1,3}(?:\.\d{1,3}){3}))?(?: (?P<version>v[12]))?(?: (?P<netdev>[\w.@-]{1,64}))?"
)
_COUNT = re.compile(r"n_gids_found=(\d{1,6})")
_HEAD = re.compile(r"DEV PORT INDEX GID IPv4 VER DEV|[- ]{8,}")


@dataclass(frozen=True)
class Gid:
    """One entry of a port's table. ``version``: v1 or v2 of RoCE, "" on InfiniBand. ``address``: IPv4,
    where it is one."""

    device: str
    port: int
    index: int
    gid: str
    address: str = ""
    version: str = ""
    netdev: str = ""


@dataclass(frozen=True)
class ShowGids:
    """``count``: how many it says that there are. ``unread``: how many lines are no row of it."""

    gids: tuple[Gid, ...]
    count: int | None = None
    unread: int = 0


def parse(text: str) -> ShowGids:
    """Read every row; raise ParseError where there is none."""
    lines = flat_lines(text)
    found: list[Gid] = []
    count: int | None = None
    unread = 0
    for line in lines:
        row, told = _ROW.fullmatch(line), _COUNT.fullmatch(line)
        if row is not None:
            words = {name: value or "" for name, value in row.groupdict().items()}
            found.append(Gid(port=int(words.pop("port")), index=int(words.pop("index")), **words))
        elif told is not None:
            count = int(told.group(1))
        elif line and not _HEAD.fullmatch(line):
            unread += 1
    if not found:
        raise no_facts(_TOOL, lines, "no GID of a port")
    return ShowGids(tuple(found), count, unread)


def facts(parsed: ShowGids) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {"gids": [asdict(gid) for gid in parsed.gids], "count": parsed.count, "unread": parsed.unread}
