# SPDX-License-Identifier: GPL-3.0-or-later
"""One line at the bottom of a terminal, taken away before anything else is written there."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

_REST = "\x1b[K"
ERASE = f"\r{_REST}"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
# Seconds: between two lines, and until somebody looks whether there is a new one.
_SELDOM = 0.1
_TICK = 0.25


def wanted(environ: Mapping[str, str], *streams: TextIO) -> bool:
    """Whether people look: at terminals that can erase a line, and not at the log of a CI."""
    able = environ.get("TERM", "dumb") not in ("", "dumb") and not environ.get("CI")
    with contextlib.suppress(ValueError):  # closed
        return able and all(stream.isatty() for stream in streams)
    return False


class Screen:
    """``text(columns)`` gives the line, "" for none. ``lock``: whoever writes holds it; it is held
    while a process is forked, and every change of what ``text`` tells is made under it."""

    def __init__(
        self, out: TextIO, others: tuple[TextIO, ...], lock: Any, text: Callable[[int], str], *, color: bool
    ) -> None:
        self._out, self._others, self.lock, self._text = out, others, lock, text
        self._color = color
        self._put = out.write
        self._taken: list[tuple[TextIO, Any]] = []
        self._shown = ""
        self._at = 0.0
        # Somebody's line that has no end yet.
        self._open = False
        self._quiet = False
        self._ended = threading.Event()
        self._pid = os.getpid()

    @property
    def begun(self) -> bool:
        """Whether it watches the streams, or did."""
        return bool(self._taken)

    def begin(self) -> None:
        """Watch what is written to the streams, and draw from now on."""
        for stream in (self._out, *self._others):
            self._taken.append((stream, vars(stream).get("write")))
            stream.write = self._through(stream.write)  # type: ignore[method-assign]
        threading.Thread(target=self._tick, name="ibready-progress", daemon=True).start()

    def end(self) -> None:
        """Leave the terminal as if nothing had been drawn."""
        if self._ended.is_set() or os.getpid() != self._pid:
            return
        # A prompt may have the lock while this process is ended by a signal.
        held = self.lock.acquire(timeout=1)
        try:
            self._ended.set()
            self._erase()
            for stream, write in self._taken:
                if write is None:
                    del stream.write
                else:
                    stream.write = write  # type: ignore[method-assign]
        finally:
            if held:
                self.lock.release()

    def quiet(self, whether: bool) -> None:
        """Draw nothing, for somebody else asks a question."""
        with self.lock:
            self._quiet = whether
            if whether:
                self._erase()

    def changed(self) -> None:
        """There may be another line."""
        with self.lock:
            if time.monotonic() - self._at >= _SELDOM:
                self._draw()

    def _through(self, write: Callable[[str], int]) -> Callable[[str], int]:
        def written(text: str) -> int:
            with self.lock:
                self._erase()
                count = write(text)
                if text:
                    self._open = not text.endswith("\n")
                if time.monotonic() - self._at >= _SELDOM:
                    self._draw()
                return count

        return written

    def _tick(self) -> None:
        while not self._ended.wait(_TICK):
            with self.lock:
                self._draw()

    def _draw(self) -> None:
        if self._ended.is_set() or self._quiet or self._open or not self._in_front():
            return
        try:
            # The last column stays free: some terminals go on to the next line after it.
            line = self._text(os.get_terminal_size(self._out.fileno()).columns - 1)
        except (OSError, ValueError):
            return
        self._at = time.monotonic()
        if line == self._shown:
            return
        if not line:
            self._erase()
            return
        self._shown = line
        self._write(f"\r{_DIM}{line}{_PLAIN}{_REST}" if self._color else f"\r{line}{_REST}")

    def _erase(self) -> None:
        if self._shown:
            self._shown = ""
            self._write(ERASE)

    def _write(self, text: str) -> None:
        # A terminal that is gone is told of by what the run itself writes.
        with contextlib.suppress(OSError, ValueError):
            self._put(text)
            self._out.flush()

    def _in_front(self) -> bool:
        """Whether this is what the terminal runs, and not stopped or in the background."""
        try:
            return os.tcgetpgrp(self._out.fileno()) == os.getpgrp()
        except (OSError, ValueError):
            return True
