# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that listens: binds, gives up its rights, says what it has, answers until its end.

Run by its source (_source), with one JSON object on standard input. Writes one to standard output
when it listens, and goes on in the background; the kernel ends it after ``lease`` seconds.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import selectors
import signal
import socket
import sys
import time
from typing import Any, Iterable, List

from ansible_collections.ibready.cluster.plugins.module_utils._tcp.ports import (
    near,
    spread,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.process import begun
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.words import (
    ASK,
    answer,
    is_ask,
)

# What ps and ss show.
NAME = "ibready-tcp"
# Every interface, IPv4 as well; and where there is no IPv6.
_ALL = ("::", "0.0.0.0")
_NOBODY = 65534
_BACKLOG = 64
# A caller that says nothing is left after this many seconds; the oldest gives way to the newest.
_PATIENCE = 3.0
_AT_ONCE = 32

Sockets = List[socket.socket]


def main() -> None:
    """Do as the request says; a child goes on listening when this has ended."""
    request = json.loads(sys.stdin.buffer.read())
    os.chdir("/")
    try:
        lines, told = _bind_all(request)
    except OSError as exc:
        print(json.dumps({"error": str(exc)}))
        return
    if not lines:
        print(json.dumps({**told, "id": ""}))
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
        _become_nobody()
        _detach({**told, "id": f"{os.getpid()}:{begun(os.getpid())}"})
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
    told = {
        "address": "" if address in _ALL else address,
        "ports": numbers[:given],
        "held": held,
        "sample": numbers[given:],
    }
    return lines, told


def _where(address: str) -> str:
    """The address to listen on: the given one where it is this host's, else all."""
    for one in (*([address] if address else []), *_ALL):
        try:
            line = _bind(one, 0)
        except OSError as exc:
            if one == _ALL[-1] or exc.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
        else:
            if line is not None:
                line.close()
            return one
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


def _become_nobody() -> None:
    """Keep no right but those of everybody, where there are any to give up."""
    if os.geteuid() != 0:
        return
    try:
        who = pwd.getpwnam("nobody")
        user, group = who.pw_uid, who.pw_gid
    except KeyError:
        user = group = _NOBODY
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _detach(told: dict[str, Any]) -> None:
    """Say that it listens; whoever asked is not waited for, and not kept waiting."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.write(1, json.dumps(told).encode())
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _serve(lines: Sockets, token: bytes, name: bytes, most: int) -> None:
    """Answer until ``most`` callers have come and gone."""
    talks: dict[socket.socket, Talk] = {}
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ)
        while lines or talks:
            for key, _events in selector.select(1.0):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if one in talks:
                    if talks[one].hear(one, token, name):
                        _end(selector, [one], talks)
                elif lines:
                    most -= _accept(selector, talks, one)
                if most < 1 and lines:
                    _end(selector, lines)
                    lines = []
            now = time.monotonic()
            _end(selector, [one for one, talk in talks.items() if talk.until < now], talks)


def _accept(
    selector: selectors.BaseSelector, talks: dict[socket.socket, Talk], line: socket.socket
) -> int:
    """How many callers came."""
    try:
        caller, _address = line.accept()
    except OSError:
        return 0
    caller.setblocking(False)
    if len(talks) >= _AT_ONCE:
        _end(selector, [next(iter(talks))], talks)
    talks[caller] = Talk(line.getsockname()[1], time.monotonic() + _PATIENCE)
    selector.register(caller, selectors.EVENT_READ)
    return 1


def _end(
    selector: selectors.BaseSelector,
    ended: Sockets,
    talks: dict[socket.socket, Talk] | None = None,
) -> None:
    for one in ended:
        selector.unregister(one)
        one.close()
        if talks is not None:
            del talks[one]


class Talk:
    """What one caller has said so far; never more than a question is read."""

    def __init__(self, port: int, until: float) -> None:
        self.port = port
        self.until = until
        self._said = b""

    def hear(self, caller: socket.socket, token: bytes, name: bytes) -> bool:
        """Read on and answer a question; True where nothing is left to say."""
        try:
            piece = caller.recv(ASK - len(self._said))
            self._said += piece
            if piece and len(self._said) < ASK:
                return False
            if is_ask(token, self._said):
                caller.send(answer(token, self._said, self.port, name))
        except OSError:
            pass
        return True
