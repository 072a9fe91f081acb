# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on a stranger's bytes in a process of its own, which can be ended whatever it is at."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

_PIECE = 64 * 1024


class ChildError(RuntimeError):
    """The process did not answer; the message says why."""


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work`` returns, as JSON has it; ChildError where it takes longer, raises or dies.

    It is this process forked: a worker of Ansible's may have no child of multiprocessing's.
    """
    answers, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(answers)
            with open(says, "w", encoding="utf-8") as stream:
                json.dump(work(), stream)
            os._exit(0)
        finally:
            os._exit(1)  # Nothing of the parent's is ended twice, and no exception goes on in two processes.
    os.close(says)
    try:
        said = _read(answers, time.monotonic() + seconds)
    finally:
        os.close(answers)
        os.kill(pid, signal.SIGKILL)
        _unused, status = os.waitpid(pid, 0)
    if said is None:
        raise ChildError(f"it was not done after {seconds:g} seconds")
    try:
        return json.loads(said)
    except ValueError as exc:
        raise ChildError(f"the process that read it died (status {status})") from exc


def _read(answers: int, until: float) -> bytes | None:
    """All that the child says until it ends; None at the deadline."""
    said = bytearray()
    while select.select([answers], [], [], max(0.0, until - time.monotonic()))[0]:
        piece = os.read(answers, _PIECE)
        if not piece:
            return bytes(said)
        said += piece
    return None
