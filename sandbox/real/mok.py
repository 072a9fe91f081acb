# SPDX-License-Identifier: GPL-3.0-or-later
"""The person at the console whom MokManager asks, after `mokutil --import` and a reboot."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.machines.qmp import connected

_SECONDS = 120.0
_DOWN, _ENTER = b"\x1b[B", b"\r"
# How a terminal is told where and in which colour a text stands.
_PLACED = re.compile(rb"\x1b\[[0-9;=]*[A-Za-z]")
# What it shows, and what a person presses then.
_DIALOGUE: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"Press any key to perform MOK management", (b" ",)),
    (b"Enroll MOK", (_DOWN, _ENTER)),
    (b"View key 0", (_DOWN, _ENTER)),
    (b"Enroll the key", (_DOWN, _ENTER)),
)
# It takes a key for each press, and draws in between.
_BETWEEN = 0.7


class _Ended(Exception):
    """The machine was switched off, or rebooted."""


def enrol(line: Path, password: str) -> None:
    """Answer at a machine's serial line (a socket), from its reboot to MokManager's."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        try:
            with connected(line, _SECONDS) as console:
                _answer(console, password, deadline)
            return
        except (_Ended, OSError):
            # The machine of before its reboot was still there, or that of afterwards is not yet.
            time.sleep(0.2)
    raise SandboxError(f"nothing answers at {line.name}, or it ends again and again")


def _answer(console: socket.socket, password: str, deadline: float) -> None:
    for words, keys in (*_DIALOGUE, (b"Password", (password.encode() + _ENTER,)), (b"Reboot", (_ENTER,))):
        _shown(console, words, deadline)
        for key in keys:
            time.sleep(_BETWEEN)
            console.sendall(key)


def _shown(console: socket.socket, words: bytes, deadline: float) -> None:
    """Return when the words stand there; _Ended, SandboxError where they do not come."""
    seen = b""
    while words not in (shown := _PLACED.sub(b" ", seen)):
        left = deadline - time.monotonic()
        if left <= 0:
            last = " ".join(shown.decode(errors="replace").split()[-12:])
            raise SandboxError(f"MokManager does not show {words.decode()!r}; the console's last: {last}")
        console.settimeout(left)
        with contextlib.suppress(TimeoutError):
            if not (more := console.recv(4096)):
                raise _Ended
            seen += more
