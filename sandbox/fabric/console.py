# SPDX-License-Identifier: GPL-3.0-or-later
"""ibsim as a child process, driven through its console."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time

_PROMPT = b"sim> "


class ConsoleError(Exception):
    """ibsim is not there or does not answer."""


class Ibsim:
    """One ibsim; every command is answered before the next one is sent."""

    def __init__(self, argv: list[str], start_seconds: float = 10) -> None:
        self._argv = argv
        self._start_seconds = start_seconds
        self._lock = threading.Lock()
        self._child = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._read(child, time.monotonic() + self._start_seconds)
        return child

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def restart(self) -> None:
        """Start over with the topology of the file: links, LIDs and clients are forgotten."""
        with self._lock:
            self._child.kill()
            self._child.wait()
            self._child = self._start()

    def stop(self) -> None:
        """End it."""
        with self._lock:
            self._child.kill()
            self._child.wait()

    def ask(self, command: str, timeout: float = 5.0) -> str:
        """Send one console command and return what it prints."""
        if "\n" in command:
            raise ConsoleError(f"one command at a time: {command!r}")
        with self._lock:
            pipe = self._child.stdin
            if pipe is None or not self.alive:
                raise ConsoleError("ibsim is not running")
            try:
                pipe.write(command.encode() + b"\n")
            except OSError as exc:
                raise ConsoleError(f"ibsim has gone: {exc}") from exc
            return self._read(self._child, time.monotonic() + timeout)

    @staticmethod
    def _read(child: subprocess.Popen[bytes], deadline: float) -> str:
        pipe = child.stdout
        if pipe is None:
            raise ConsoleError("ibsim has no output")
        text = b""
        while not text.endswith(_PROMPT):
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise ConsoleError("ibsim does not answer")
            piece = os.read(pipe.fileno(), 65536)
            if not piece:
                raise ConsoleError(f"ibsim ended: {text.decode(errors='replace').strip()}")
            text += piece
        return text[: -len(_PROMPT)].decode(errors="replace")
