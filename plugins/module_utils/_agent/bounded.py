# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a function in a process of its own that is given up after a while, whatever it hangs in."""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass
from types import FrameType
from typing import Callable, Iterator, NoReturn

# How long it may take to end the tools that it has started, once it is told to.
_END_S = 2.0
_CHUNK = 64 * 1024


class Busy(Exception):
    """Somebody else holds the lock, for ``seconds`` by now."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class _Reported(BaseException):
    """SIGTERM: pass every `except Exception`, so that only `finally` gets a turn."""


@dataclass(frozen=True)
class Done:
    """``said``: what the function returned, None where it did not end, with the reason in ``why``.

    The cost is that of its process and of all that it waited for.
    """

    said: bytes | None
    why: str
    cpu_seconds: float
    peak_bytes: int


@contextlib.contextmanager
def locked(path: str, seconds: float, *, heirs: bool = True) -> Iterator[None]:
    """Hold the lock; raises Busy where it is not free within these seconds, or OSError.

    With ``heirs`` a process that was given up and still hangs keeps the lock that it was started
    under; without, the lock is free as soon as this process lets go.
    """
    # POSIX locks are the process's own, flock's are of the open file, which fork shares.
    lock = fcntl.flock if heirs else fcntl.lockf
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    deadline = time.monotonic() + seconds
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as stream:
        while True:
            try:
                lock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= deadline:
                    raise Busy(time.time() - os.fstat(stream.fileno()).st_mtime) from None
                time.sleep(0.1)
        os.utime(stream.fileno())
        yield


def run(function: Callable[[], bytes], seconds: float) -> Done:
    """What the function returns, if it does so within these seconds; raises OSError."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(function, reader, writer)
    os.close(writer)
    with open(reader, "rb", buffering=0):
        said, whole = _read(reader, time.monotonic() + seconds)
    ended = _end(pid, _END_S if whole else 0.0)
    if ended is None:
        return Done(None, f"no answer within {seconds:g} s, and it cannot be ended", 0.0, 0)
    status, used = ended
    cost = (used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
    if not whole:
        return Done(None, f"no answer within {seconds:g} s", *cost)
    if status != 0:
        return Done(None, f"it ended with status {status} and said nothing", *cost)
    return Done(said, "", *cost)


def _child(function: Callable[[], bytes], reader: int, writer: int) -> NoReturn:
    """Never returns into the parent's code."""
    status = 70
    try:
        signal.signal(signal.SIGTERM, _told)
        os.close(reader)
        said = function()
        with open(writer, "wb", buffering=0) as stream:
            view = memoryview(said)
            while view:
                view = view[stream.write(view) :]
        status = 0
    except BaseException as exc:
        if not isinstance(exc, _Reported):
            with contextlib.suppress(Exception):
                print(f"ibready: this went wrong: {type(exc).__name__}: {exc}", file=sys.stderr)
                sys.stderr.flush()
    finally:
        os._exit(status)


def _told(_number: int, _frame: FrameType | None) -> None:
    raise _Reported


def _read(fd: int, deadline: float) -> tuple[bytes, bool]:
    """What came to the pipe's end; False where the end did not come in time."""
    said = bytearray()
    while True:
        ready, _unused, _unused = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return bytes(said), False
        chunk = os.read(fd, _CHUNK)
        if not chunk:
            return bytes(said), True
        said += chunk


def _end(pid: int, patience: float) -> tuple[int, resource.struct_rusage] | None:
    """Wait for the process, then ask it to end, then end it; None where even that does not."""
    for number, wait in ((None, patience), (signal.SIGTERM, _END_S), (signal.SIGKILL, _END_S)):
        if number is not None:
            os.kill(pid, number)
        deadline = time.monotonic() + wait
        while True:
            found, status, used = os.wait4(pid, os.WNOHANG)
            if found:
                return status, used
            if time.monotonic() >= deadline:
                break
            time.sleep(0.02)
    return None
