# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect to TCP ports of other nodes, all at once, and tell what became of each."""

from __future__ import annotations

import errno
import socket
import threading
import time
from dataclasses import dataclass, replace
from typing import Any, Callable, List, Tuple

from . import words
from .tried import ANSWERED, CONNECTED, DROPPED, OTHER, PROVED, REFUSED, SILENT, UNABLE, UNREACHABLE, UNRESOLVED

_GONE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)
# A name may have several addresses; each gets its share of the time.
_ADDRESSES = 4
_LATE = "this node was too busy to connect in time"

# Family and address, as getaddrinfo gives them.
Place = Tuple[int, Tuple[Any, ...]]
Places = List[Place]


@dataclass(frozen=True)
class Peer:
    """A node to reach: its listener's name, an address or a name of it, and its ports.

    ``held``: ports that some program of that node has; they are connected to, and nothing is said.
    """

    name: str
    address: str
    ports: tuple[int, ...]
    held: tuple[int, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What became of one port. ``ms``: until connected, None where it was not."""

    server: str
    port: int
    outcome: str
    ms: float | None = None
    said: str = ""


def ask(peers: list[Peer], token: bytes, timeout: float) -> list[Answer]:
    """One answer per port, in order; after about twice ``timeout`` seconds at most.

    Without a token nobody has to say anything.
    """
    late = f"no answer from the resolver within {timeout:g} s"
    places: dict[str, Places | str] = {peer.name: late for peer in peers}
    _all([_resolving(peer, places) for peer in peers], timeout)
    asked = [(peer, port) for peer in peers for port in (*peer.ports, *peer.held)]
    answers = [Answer(peer.name, port, UNABLE, said=_LATE) for peer, port in asked]
    _all(
        [
            _asking(answers, index, places[peer.name], b"" if port in peer.held else token, timeout)
            for index, (peer, port) in enumerate(asked)
        ],
        timeout + 1,
    )
    return answers


def _all(jobs: list[Callable[[], None]], seconds: float) -> None:
    """Run all at once; those that are not done in time are left behind, to end by themselves."""
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def _resolving(peer: Peer, places: dict[str, Places | str]) -> Callable[[], None]:
    def resolve() -> None:
        try:
            found = socket.getaddrinfo(peer.address, 0, type=socket.SOCK_STREAM)
            unique: dict[Any, Place] = {(item[0], item[4][0]): (item[0], item[4]) for item in found}
            places[peer.name] = list(unique.values())[:_ADDRESSES]
        except OSError as exc:
            places[peer.name] = exc.strerror or str(exc)
        except ValueError as exc:  # a name that cannot be written as one
            places[peer.name] = str(exc)

    return resolve


def _asking(
    answers: list[Answer], index: int, places: Places | str, token: bytes, timeout: float
) -> Callable[[], None]:
    def reach() -> None:
        mine = replace(answers[index], said="")
        if isinstance(places, str):
            answers[index] = replace(mine, outcome=UNRESOLVED, said=places)
            return
        reported = []
        for place in places:
            reported.append(_answer(mine, place, token, timeout / len(places)))
            if reported[-1].outcome in PROVED:
                break
        # Whoever has several addresses is reached at one of them; else the first tells most.
        answers[index] = reported[-1] if reported[-1].outcome in PROVED else reported[0]

    return reach


def _answer(mine: Answer, place: Place, token: bytes, timeout: float) -> Answer:
    """Connect to one address, and hear whose listener is there."""
    family, address = place
    begun = time.monotonic()
    try:
        line = socket.socket(family, socket.SOCK_STREAM)
    except OSError as exc:
        return replace(mine, outcome=UNABLE, said=_text(exc))
    with line:
        line.settimeout(timeout)
        try:
            line.connect((address[0], mine.port, *address[2:]))
        except OSError as exc:
            return replace(mine, outcome=_outcome(exc), said=f"{address[0]}: {_text(exc)}")
        connected = replace(mine, ms=round(1000 * (time.monotonic() - begun), 2))
        if not token:
            return replace(connected, outcome=CONNECTED)
        outcome, said = _talk(line, token, mine, begun + timeout)
        return replace(connected, outcome=outcome, said=said and f"{address[0]}: {said}")


def _talk(line: socket.socket, token: bytes, mine: Answer, deadline: float) -> tuple[str, str]:
    said = b""
    try:
        # Ours speaks first; a service that waits to be asked closes at this, and is told from a silent way.
        line.shutdown(socket.SHUT_WR)
        while len(said) < words.MOST:
            line.settimeout(max(0.001, deadline - time.monotonic()))
            piece = line.recv(words.MOST - len(said))
            if not piece:
                break
            said += piece
    except socket.timeout:
        return SILENT, "connected, and no answer came"
    except OSError as exc:
        return OTHER, f"connected, then {_text(exc)}"
    name = words.name_in(token, mine.port, said)
    if name == mine.server:
        return ANSWERED, ""
    if name is not None:
        return OTHER, f"the listener of {name} answered"
    return OTHER, "something else answered" if said else "closed without an answer"


def _outcome(exc: OSError) -> str:
    if isinstance(exc, socket.timeout) or exc.errno == errno.ETIMEDOUT:
        return DROPPED
    if exc.errno in _GONE:
        return UNREACHABLE
    return REFUSED if exc.errno == errno.ECONNREFUSED else UNABLE


def _text(exc: OSError) -> str:
    return (exc.strerror or str(exc)).lower()
