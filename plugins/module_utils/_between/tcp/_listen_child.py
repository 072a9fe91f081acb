# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that listens: binds, gives up its rights, says what it has, answers until its end.

Run by its source (_ground/source), with one JSON object on standard input. Writes one to standard output
when it listens, and goes on in the background; the kernel ends it after ``lease`` seconds.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections import Counter
from typing import Any, Callable, Dict, Iterable, List

from ..._ground.nobody import become
from .ports import near, spread
from .process import begun
from .words import ASK, answer, is_ask

# What ps and ss show.
NAME = "ibready-tcp"
# Every interface, IPv4 as well; and where there is no IPv6.
_ALL = ("::", "0.0.0.0")
_BACKLOG = 1024
# A caller that says nothing is left after this many seconds. So many have a place at once, and so
# many of one address: among the callers of the busiest the oldest gives way to a newcomer.
_PATIENCE = 3.0
_AT_ONCE = 256
_OF_ONE = 32
# How many are taken in before those who came earlier are looked at again.
_A_FEW = 16

Sockets = List[socket.socket]
Talks = Dict[socket.socket, "Talk"]


def main() -> None:
    """Do as the request says; a child goes on listening when this has ended."""
    request = json.loads(sys.stdin.buffer.read())
    os.chdir("/")
    try:
        lines, reported = _bind_all(request)
    except OSError as exc:
        print(json.dumps({"error": str(exc)}))
        return
    if not lines:
        print(json.dumps({**reported, "id": ""}))
        return
    if os.fork():
        os._exit(0)
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.alarm(request["lease"])
    os.setsid()
    # Before it is nobody, who may not write there.
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as stream:
        stream.write(NAME)
    try:
        become()
        _detach({**reported, "id": f"{os.getpid()}:{begun(os.getpid())}"})
    except OSError as exc:
        print(json.dumps({"error": f"it cannot give up its rights: {exc}"}), flush=True)
        os._exit(0)
    _serve(lines, bytes.fromhex(request["token"]), request["name"].encode(), request["most"])
    os._exit(0)


def _bind_all(request: dict[str, Any]) -> tuple[Sockets, dict[str, Any]]:
    """A listening socket for every port that is free, and what to tell of all of them."""
    address = _where(request["address"])
    lines: Sockets = []
    held = []
    for port in request["ports"]:
        line = _bind(address, port)
        if line is None:
            held.append(port)
        else:
            lines.append(line)
    given = len(lines)
    if request["range"] is not None:
        low, high, reserved = request["range"]
        for place in spread(low, high, request["count"]):
            lines += _bind_first(address, near(place, low, high, reserved))
    numbers = [line.getsockname()[1] for line in lines]
    reported = {
        "address": "" if address in _ALL else address,
        "ports": numbers[:given],
        "held": held,
        "sample": numbers[given:],
    }
    return lines, reported


def _where(address: str) -> str:
    """The address to listen on: the given one where it is this host's, else all."""
    for entry in (*([address] if address else []), *_ALL):
        try:
            line = _bind(entry, 0)
        except OSError as exc:
            if entry == _ALL[-1] or exc.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
        else:
            if line is not None:
                line.close()
            return entry
    raise AssertionError("unreachable: the last address returns or raises")


def _bind_first(address: str, places: Iterable[int]) -> Sockets:
    """One socket, on the first of the ports that is free; none where all are in use."""
    for port in places:
        line = _bind(address, port)
        if line is not None:
            return [line]
    return []


def _bind(address: str, port: int) -> socket.socket | None:
    """A socket that listens; None where the port is in use."""
    line = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address == "::":
            line.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        line.bind((address, port))
        line.listen(_BACKLOG)
        line.setblocking(False)
    except OSError as exc:
        line.close()
        if exc.errno == errno.EADDRINUSE:
            return None
        raise OSError(exc.errno, f"port {port} of {address}: {exc.strerror}") from exc
    return line


def _detach(told: dict[str, Any]) -> None:
    """Say that it listens; whoever asked is not waited for, and not kept waiting."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.write(1, json.dumps(told).encode())
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _serve(lines: Sockets, token: bytes, name: bytes, most: int) -> None:
    """Answer until ``most`` callers have proved that they know the token.

    Others count for nothing, however many they are: they keep nobody waiting who does.
    """
    talks: Talks = {}
    asked: set[bytes] = set()
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ)
        while lines or talks:
            ready = {key.fileobj for key, _events in selector.select(1.0)}
            # Whoever has spoken is heard before a newcomer takes a place.
            for item in [talk for talk in talks if talk in ready]:
                if talks[item].hear(item, token, name, asked):
                    _end(selector, talks, item)
            for line in [line for line in lines if line in ready]:
                _accept(selector, talks, line, lambda entry, talk: talk.hear(entry, token, name, asked))
            if len(asked) >= most:
                for line in lines:
                    selector.unregister(line)
                    line.close()
                lines = []
            now = time.monotonic()
            for each in [entry for entry, talk in talks.items() if talk.until < now]:
                _end(selector, talks, each)


def _accept(
    selector: selectors.BaseSelector,
    talks: Talks,
    line: socket.socket,
    hear: Callable[[socket.socket, Talk], bool],
) -> None:
    """Take a few callers in; those who spoke while they waited need no place."""
    for _turn in range(_A_FEW):
        try:
            caller, address = line.accept()
        except OSError:
            return
        caller.setblocking(False)
        talk = Talk(line.getsockname()[1], address[0], time.monotonic() + _PATIENCE)
        if hear(caller, talk):
            caller.close()
            continue
        mine = [entry for entry, other in talks.items() if other.address == talk.address]
        if len(mine) >= _OF_ONE:
            _end(selector, talks, mine[0])
        elif len(talks) >= _AT_ONCE:
            counts = Counter(other.address for other in talks.values())
            crowd = max(counts, key=lambda count: counts[count])
            _end(selector, talks, next(talk for talk in talks if talks[talk].address == crowd))
        talks[caller] = talk
        selector.register(caller, selectors.EVENT_READ)


def _end(selector: selectors.BaseSelector, talks: Talks, entry: socket.socket) -> None:
    del talks[entry]
    selector.unregister(entry)
    entry.close()


class Talk:
    """What one caller has said so far; never more than a question is read."""

    def __init__(self, port: int, address: str, until: float) -> None:
        self.port = port
        self.address = address
        self.until = until
        self._said = b""

    def hear(self, caller: socket.socket, token: bytes, name: bytes, asked: set[bytes]) -> bool:
        """Read on and answer a question, which goes to ``asked``; True where nothing is left."""
        try:
            piece = caller.recv(ASK - len(self._said))
            self._said += piece
            if piece and len(self._said) < ASK:
                return False
            if is_ask(token, self._said):
                asked.add(self._said)
                caller.send(answer(token, self._said, self.port, name))
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True
