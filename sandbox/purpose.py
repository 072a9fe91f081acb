# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that a sandbox was made for: after its end nobody uses the sandbox any more.

A run of tests that is killed takes nothing away; without this, what it left running would stand
in the way of the next run from another checkout for good.
"""

from __future__ import annotations

import os
from pathlib import Path

from sandbox.errors import SandboxError

LABEL = "ibready.sandbox.for"
# The id of a process; what is made without it is kept until somebody takes it down.
VARIABLE = "IBREADY_SANDBOX_FOR"

_PROC = Path("/proc")


def asked() -> str:
    """Return the mark of the process that $IBREADY_SANDBOX_FOR names; "" where it names none."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return ""
    began = _began(given) if given.isascii() and given.isdigit() else None
    if began is None:
        raise SandboxError(f"{VARIABLE}={given!r} is no process that runs: unset it")
    return f"{given} {began} {_namespace()} {_boot()}"


def ended(mark: str) -> bool:
    """Whether the process of a mark has ended. False where that cannot be told from here."""
    words = mark.split()
    if len(words) != 4:
        return False
    number, began, namespace, boot = words
    if boot != _boot():
        return True
    # Of another namespace's processes nothing is known here, nor of any where they are hidden.
    if namespace != _namespace() or _began("1") is None:
        return False
    return _began(number) != began


def _began(number: str) -> str | None:
    """When a process began, in ticks since the boot: an id alone is given to another one later."""
    try:
        text = (_PROC / number / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name before it is in parentheses, and may hold anything.
    state, *rest = text.rpartition(")")[2].split()
    return None if state in "ZX" else rest[18]


def _namespace() -> str:
    return os.readlink(_PROC / "self/ns/pid")


def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
