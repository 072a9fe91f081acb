# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run tried between its hosts by TCP, and what can become of a connection, in one word each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

ANSWERED = "answered"  # the listener of that node said its line
CONNECTED = "connected"  # nobody was to say anything
DROPPED = "dropped"  # nothing came back in time
REFUSED = "refused"
UNREACHABLE = "unreachable"  # an ICMP message came back, or there is no route
SILENT = "silent"  # connected, and nothing came back in time
OTHER = "other"  # somebody else answered
UNRESOLVED = "unresolved"  # the name has no address
UNABLE = "unable"  # the node could not even try

PROVED = (ANSWERED, CONNECTED)
# The way was tried and is not there.
BARRED = (DROPPED, REFUSED, UNREACHABLE, SILENT, OTHER)


@dataclass(frozen=True)
class Try:
    """One connection. ``outcome``: a word of those above; ``ms``: until connected.

    Without an outcome it was not tested: ``untested`` says why, and ``culprit`` is the host that
    kept it from being tested. ``sample``: the port stands for the server's local ports.
    """

    client: str
    server: str
    port: int
    sample: bool = False
    outcome: str = ""
    ms: float | None = None
    said: str = ""
    untested: str = ""
    culprit: str = ""


@dataclass(frozen=True)
class Host:
    """One host that the run reached. ``ports``: those that jobs meet at.

    ``off``: why it was left out on purpose; ``error``: why it could take no part. ``span``: its
    first and last local port; ``look``: the command that shows its firewall, "" where unknown.
    ``held``: ports that other programs of it have, and who. ``no_range``: why its local ports are
    left out on purpose.
    """

    ports: tuple[int, ...]
    off: str = ""
    error: str = ""
    span: tuple[int, int] = (0, 0)
    look: str = ""
    held: Mapping[int, str] = field(default_factory=dict)
    no_range: str = ""
