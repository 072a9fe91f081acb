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
from typing import Any, Iterable, List, cast

from ..._ground.nobody import become
from .ports import near, spread
from .process import begun
from .words import says

# What ps and ss show.
NAME = "ibready-tcp"
# Every interface, IPv4 as well; and where there is no IPv6.
_ALL = ("::", "0.0.0.0")
_BACKLOG = 1024

Sockets = List[socket.socket]


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
    _serve(lines, bytes.fromhex(request["token"]), request["name"].encode())


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


def _serve(lines: Sockets, token: bytes, name: bytes) -> None:
    """Say one line to whoever calls, and read nothing, until the lease ends it."""
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ, says(token, line.getsockname()[1], name))
        while True:
            for key, _events in selector.select():
                # A caller may be gone by now, and none is waited for.
                with contextlib.suppress(OSError):
                    caller, _address = cast(socket.socket, key.fileobj).accept()
                    with caller:
                        caller.setblocking(False)
                        caller.send(key.data)
