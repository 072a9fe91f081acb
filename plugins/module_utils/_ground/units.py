# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd says of units, and which acts they lack to be as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from .command import Unavailable

_FIELDS = ("Id", "LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload")
_RUNS = ("active", "activating", "reloading", "refreshing")
# As `systemctl is-enabled` counts them; a unit that nothing can enable lacks nothing.
_ENABLED = ("enabled", "enabled-runtime", "alias", "static", "generated", "indirect")


@dataclass(frozen=True)
class State:
    """One unit: whether there is one, runs, is started at boot; and whether its file is newer than what systemd has."""

    there: bool
    running: bool
    enabled: bool
    stale: bool

    def acts(self, name: str, enabled: bool | None, running: bool | None) -> list[str]:
        """The words of systemctl that bring it to what is asked; None leaves it as it is."""
        found = ["daemon-reload"] if self.stale else []
        if enabled is not None and enabled is not self.enabled:
            found.append(f"{'enable' if enabled else 'disable'} {name}")
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
        there=block["LoadState"] not in ("not-found", "masked"),
        running=block["ActiveState"] in _RUNS,
        enabled=block["UnitFileState"] in _ENABLED,
        stale=block["NeedDaemonReload"] == "yes",
    )
