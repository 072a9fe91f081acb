# SPDX-License-Identifier: GPL-3.0-or-later
"""The transient systemd units of ours on this node: which there are, and that they end."""

from __future__ import annotations

import os
from typing import Callable

from .command import Output, Unavailable
from .text import last_word

# systemd's words for a unit; "unknown" is that of older releases for one that is not there.
_UP = ("active", "reloading", "refreshing")
_ENDED = ("inactive", "failed", "unknown")
_BETWEEN = ("activating", "deactivating", "maintenance")

# Run argv for so many seconds at most, as command.run_program.
Run = Callable[..., Output]


class UnitError(Exception):
    """A unit could not be started or stopped; the message names it, the cause and the next step."""


def has_systemd(root: str = "/") -> bool:
    """Whether systemd runs on the host whose / is ``root``; not where that is a directory of tests."""
    return root == "/" and os.path.isdir("/run/systemd/system")


def running(run: Run, prefix: str) -> list[str]:
    """The units of this prefix that exist on the node, in whatever state."""
    output = run(["systemctl", "list-units", "--all", "--plain", "--no-legend", prefix + "*"], 10.0)
    if output.rc != 0:
        raise UnitError(f"cannot list units: {said(output)}; next: is systemd running?")
    return [line.split()[0] for line in output.stdout.splitlines() if line.strip()]


def active(run: Run, unit: str) -> bool:
    """Whether the unit runs; Unavailable where systemd does not say."""
    return is_up(_ask(run, unit), unit)


def is_up(told: Output, unit: str) -> bool:
    """The same of what `systemctl is-active UNIT` left."""
    return _word(told, unit) in _UP


def _ask(run: Run, unit: str) -> Output:
    return run(["systemctl", "is-active", unit], 10.0)


def _word(told: Output, unit: str) -> str:
    """The status does not tell a unit that is not active from a systemd that cannot be asked."""
    word = told.stdout.strip()
    if word not in (*_UP, *_ENDED, *_BETWEEN):
        raise Unavailable(f"systemctl is-active {unit}", f"{said(told)}; next: is systemd running?")
    return word


def stop(run: Run, units: list[str]) -> None:
    """Stop them; raises UnitError where one survives, Unavailable where nobody can tell."""
    if not units:
        return
    output = run(["systemctl", "stop", *units], 30.0)
    left = [unit for unit in units if _word(_ask(run, unit), unit) not in _ENDED]
    if left:
        raise UnitError(
            f"{', '.join(left)} still runs after `systemctl stop`: {said(output)}; "
            "next: stop it by hand, its own limit ends it otherwise"
        )
    run(["systemctl", "reset-failed", *units], 10.0)


def said(output: Output) -> str:
    """The last word of a program, for a message."""
    return last_word(output.stdout, output.stderr) or f"exit status {output.rc}"
