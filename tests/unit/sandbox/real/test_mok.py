# SPDX-License-Identifier: GPL-3.0-or-later
"""The person at the console, before a MokManager that is played."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.real import mok

DOWN, ENTER = b"\x1b[B", b"\r"
# As shim 16 draws it: every word behind where it stands.
SCREENS: list[tuple[bytes, bytes]] = [
    (b"\x1b[24;01HPress any key to perform MOK management\x1b[25;1HBooting in 10 seconds", b" "),
    (b"\x1b[2J\x1b[10;30HContinue boot\x1b[11;30HEnroll MOK\x1b[12;30HReset MOK", DOWN + ENTER),
    (b"\x1b[2J\x1b[10;30HView key 0\x1b[11;30HContinue", DOWN + ENTER),
    (b"\x1b[2JEnroll the key(s)?\x1b[10;30HNo\x1b[11;30HYes", DOWN + ENTER),
    (b"\x1b[2J\x1b[5;5HPass\x1b[5;5HPassword:", b"secret-1" + ENTER),
    (b"\x1b[2J\x1b[10;30HReboot\x1b[11;30HEnroll key from disk", ENTER),
]
Play = Callable[[socket.socket], None]


@pytest.fixture
def line(tmp_path: Path) -> Path:
    return tmp_path / "machine.line"


@pytest.fixture
def plays(line: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., threading.Thread]]:
    """Have the machine's line played, a connection after the other."""
    monkeypatch.setattr(mok, "_BETWEEN", 0.01)
    started = []

    def start(*plays: Play) -> threading.Thread:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(line))
        server.listen()

        def run() -> None:
            with server:
                for play in plays:
                    with server.accept()[0] as console:
                        console.settimeout(10)
                        play(console)

        thread = threading.Thread(target=run)
        thread.start()
        started.append(thread)
        return thread

    yield start
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


def dialogue(console: socket.socket) -> None:
    for screen, keys in SCREENS:
        console.sendall(screen)
        pressed = b""
        while len(pressed) < len(keys):
            pressed += console.recv(len(keys))
        assert pressed == keys


def shutdown(console: socket.socket) -> None:
    console.sendall(b"[  OK  ] Reached target reboot.target - System Reboot.\r\n")


def test_the_key_is_enrolled_screen_by_screen(line: Path, plays: Callable[..., threading.Thread]) -> None:
    plays(dialogue)
    mok.enrol(line, "secret-1")


def test_a_machine_that_still_goes_down_is_waited_for(line: Path, plays: Callable[..., threading.Thread]) -> None:
    plays(shutdown, dialogue)
    mok.enrol(line, "secret-1")


def test_another_screen_is_told(
    line: Path, plays: Callable[..., threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mok, "_SECONDS", 0.5)

    def boots(console: socket.socket) -> None:
        console.sendall(b"Debian GNU/Linux 13 real1 ttyS0 real1 login:")
        assert console.recv(1) == b""

    plays(boots)
    with pytest.raises(SandboxError, match=r"does not show 'Press any key.*last: .*login:"):
        mok.enrol(line, "secret-1")


def test_nobody_at_the_line_is_told(line: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mok, "_SECONDS", 0.3)
    with pytest.raises(SandboxError, match=r"nothing answers at machine\.line"):
        mok.enrol(line, "secret-1")
