# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd says of units, and which acts they lack to be as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from .command import Unavailable

_FIELDS = ("Id", "LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload")
_RUNS = ("active", "activating", "reloading", "refreshing")
# As `systemctl is-enabled` counts them, for each boot; a unit that nothing can enable lacks nothing.
_ENABLED = ("enabled", "alias", "static", "generated", "indirect")
# What `systemctl disable` takes away; of the latter with --runtime.
_DISABLES = ("enabled", "alias", "linked")
_DISABLES_RUNTIME = ("enabled-runtime", "linked-runtime")


class Masked(Exception):
    """A unit that somebody forbade to start; the message names it and what to do."""


@dataclass(frozen=True)
class State:
    """One unit: whether there is one, is masked, runs; how it is started at boot (UnitFileState);
    and whether its file is newer than what systemd has."""

    there: bool
    masked: bool
    running: bool
    file: str
    stale: bool

    def acts(self, name: str, enabled: bool | None, running: bool | None) -> list[str]:
        """The words of systemctl that bring it to what is asked; None leaves it as it is. Raises Masked."""
        if self.masked and (enabled or (running and not self.running)):
            raise Masked(
                f"{name} is masked, so nothing starts it. Next: `systemctl unmask {name}`, unless somebody means it"
            )
        found = ["daemon-reload"] if self.stale else []
        if enabled and self.file not in _ENABLED:
            found.append(f"enable {name}")
        if enabled is False and self.file in (*_DISABLES, *_DISABLES_RUNTIME):
            found.append(f"disable {'--runtime ' if self.file in _DISABLES_RUNTIME else ''}{name}")
        if running is not None and running is not self.running:
            found.append(f"{'start' if running else 'stop'} {name}")
        return found


def full(name: str) -> str:
    """A unit's name with its kind."""
    return name if "." in name else f"{name}.service"


def told(names: Sequence[str], run: Callable[[list[str]], str]) -> dict[str, State]:
    """The state of each unit. ``run``: what systemctl says to these words; raises Unavailable."""
    asked = [full(name) for name in names]
    if not asked:
        return {}
    said = run(["show", f"--property={','.join(_FIELDS)}", "--", *asked])
    blocks = [dict(line.split("=", 1) for line in block.splitlines() if "=" in line) for block in said.split("\n\n")]
    known = [block for block in blocks if block]
    if len(known) != len(asked):
        raise Unavailable("systemctl show", f"told of {len(known)} units where {len(asked)} were asked for")
    return {name: _state(block) for name, block in zip(asked, known)}


def _state(block: dict[str, str]) -> State:
    lacking = [field for field in _FIELDS if field not in block]
    if lacking:
        raise Unavailable("systemctl show", f"says no {lacking[0]}")
    return State(
        there=block["LoadState"] != "not-found",
        masked=block["LoadState"] == "masked",
        running=block["ActiveState"] in _RUNS,
        file=block["UnitFileState"],
        stale=block["NeedDaemonReload"] == "yes",
    )
