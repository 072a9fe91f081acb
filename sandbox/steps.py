# SPDX-License-Identifier: GPL-3.0-or-later
"""How a command works on what it made: alone, and telling how long each step took."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from sandbox.errors import SandboxError

Say = Callable[[str], None]


class Named(Protocol):
    """What has a name and a file that locks it."""

    @property
    def name(self) -> str: ...

    @property
    def lock(self) -> Path: ...


@contextlib.contextmanager
def locked(box: Named) -> Iterator[None]:
    """Hold a sandbox against a second one who would change it."""
    box.lock.parent.mkdir(parents=True, exist_ok=True)
    with box.lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SandboxError(f"another command is working on {box.name}: wait for it to end") from None
        yield


@contextlib.contextmanager
def step(say: Say, title: str) -> Iterator[None]:
    """Tell how long a step took."""
    begun = time.monotonic()
    yield
    say(f"{title:<46} {time.monotonic() - begun:5.1f} s")
