# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``rdma -j link`` and ``rdma -j resource show qp`` of iproute2 print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError
from ._records import number_of, records, text_of

_LINK, _QUEUE = "rdma -j link", "rdma -j resource show qp"
# The queue pairs of a device's own, used or not: management only.
_OWN = ("GSI", "SMI")


@dataclass(frozen=True)
class Link:
    """One port. ``netdev``: its network interface, "" without one."""

    name: str
    port: int
    state: str
    netdev: str = ""


@dataclass(frozen=True)
class Queue:
    """One queue pair that somebody uses. ``pid``: 0 for the kernel's own users."""

    device: str
    kind: str
    user: str
    pid: int


def parse_links(text: str) -> tuple[Link, ...]:
    """Every port, () on a host without one; ParseError where the text is anything else."""
    found = tuple(_link(record) for record in records(_LINK, text))
    places = [(link.name, link.port) for link in found]
    if len(set(places)) != len(places):
        raise ParseError(_LINK, 0, "", "one link is told of twice")
    return found


def parse_queues(text: str) -> tuple[Queue, ...]:
    """The queue pairs that somebody uses, without those that every device has."""
    found = (_queue(record) for record in records(_QUEUE, text))
    return tuple(queue for queue in found if queue.kind not in _OWN)


def _named(tool: str, record: dict[str, Any]) -> str:
    name = text_of(tool, record, "ifname")
    if not name:
        raise ParseError(tool, 0, "", "a record without ifname")
    return name


def _link(record: dict[str, Any]) -> Link:
    name = _named(_LINK, record)
    port, state = number_of(_LINK, record, "port"), text_of(_LINK, record, "state")
    if port is None or port < 1 or not state:
        raise ParseError(_LINK, 0, "", f"{name} without {'state' if port else 'port'}")
    return Link(name, port, state, text_of(_LINK, record, "netdev"))


def _queue(record: dict[str, Any]) -> Queue:
    name = _named(_QUEUE, record)
    kind = text_of(_QUEUE, record, "type")
    if not kind:
        raise ParseError(_QUEUE, 0, "", f"a queue pair of {name} without a type")
    user = text_of(_QUEUE, record, "comm").strip("[]")
    return Queue(name, kind, user or "?", number_of(_QUEUE, record, "pid") or 0)
