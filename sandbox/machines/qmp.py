# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a running qemu: its monitor, over the socket in the state directory."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError

_SECONDS = 10.0


def ask(path: Path, command: str, **arguments: Any) -> Any:
    """Return the answer to one command of the QEMU Machine Protocol."""
    try:
        with connected(path, _SECONDS) as line, line.makefile("rwb") as talk:
            _read(talk)
            _send(talk, "qmp_capabilities", {})
            return _send(talk, command, arguments)
    except OSError as exc:
        raise SandboxError(f"qemu does not answer at {path.name}: {exc}") from None


@contextlib.contextmanager
def connected(path: Path, seconds: float) -> Iterator[socket.socket]:
    """Connect to a socket of qemu's, whose answers may take so long; OSError where none is to be had."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(seconds)
            # By way of /proc: the whole path may be longer than a socket's name can be.
            line.connect(f"/proc/self/fd/{folder}/{path.name}")
            yield line
    finally:
        os.close(folder)


def _send(talk: Any, command: str, arguments: dict[str, Any]) -> Any:
    talk.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
    talk.flush()
    while True:
        answer = _read(talk)
        if "error" in answer:
            raise SandboxError(f"qemu refuses {command}: {answer['error'].get('desc')}")
        # Events come in between.
        if "return" in answer:
            return answer["return"]


def _read(talk: Any) -> dict[str, Any]:
    line = talk.readline()
    if not line:
        raise SandboxError("qemu ended while it was asked")
    answer: dict[str, Any] = json.loads(line)
    return answer
