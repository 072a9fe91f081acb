# SPDX-License-Identifier: GPL-3.0-or-later
"""The transient systemd units of ours on this node: which there are, and that they end."""

from __future__ import annotations

from typing import Callable

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import last_word

# Run argv for so many seconds at most, as _command.run_program.
Run = Callable[..., Output]


class UnitError(Exception):
    """A unit could not be started or stopped; the message names it, the cause and the next step."""


def running(run: Run, prefix: str) -> list[str]:
    """The units of this prefix that exist on the node, in whatever state."""
    output = run(["systemctl", "list-units", "--all", "--plain", "--no-legend", prefix + "*"], 10.0)
    if output.rc != 0:
        raise UnitError(f"cannot list units: {said(output)}; next: is systemd running?")
    return [line.split()[0] for line in output.stdout.splitlines() if line.strip()]


def active(run: Run, unit: str) -> bool:
    """Whether the unit runs."""
    return run(["systemctl", "is-active", "--quiet", unit], 10.0).rc == 0


def stop(run: Run, units: list[str]) -> None:
    """Stop them; raises UnitError where one survives."""
    if not units:
        return
    output = run(["systemctl", "stop", *units], 30.0)
    left = [unit for unit in units if active(run, unit)]
    if left:
        raise UnitError(
            f"{', '.join(left)} still runs after `systemctl stop`: {said(output)}; "
            "next: stop it by hand, its own limit ends it otherwise"
        )
    run(["systemctl", "reset-failed", *units], 10.0)


def said(output: Output) -> str:
    """The last word of a program, for a message."""
    return last_word(output.stdout, output.stderr) or f"exit status {output.rc}"
