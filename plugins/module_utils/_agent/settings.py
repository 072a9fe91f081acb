# SPDX-License-Identifier: GPL-3.0-or-later
"""What the health agent of a node is told: /etc/ibready/agent.json, which role health_agent writes.

Started by hand without the file, the defaults hold, and nothing is expected but what the hardware
promises. What the role has started names the file, which then has to be there.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, fields
from typing import Any

from .._ground import strict
from .._ground.command import Missing, Unavailable, decode
from .._ground.paths import read_regular

PATH = "/etc/ibready/agent.json"
ALLOW, REFUSE = "allow", "refuse"


class SettingsError(ValueError):
    """The settings cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Settings:
    """``seconds``: the most that one look may take. ``expect``, ``waivers``: paths, "" for none.

    ``slurm_confirm_*``: how many looks in a row it takes; 0 for ``unknown`` means never.
    ``slurm_never``: check ids (globs) that neither drain this node nor close its gate.
    ``slurm_node``: its NodeName, "" for what slurmd says. ``*_age``: seconds for which a verdict is
    not looked for again. ``interval``: seconds between two looks; a verdict that is older than
    ``gate_intervals`` of them is none. ``gate_unknown``: whether a job may start where nobody can tell.
    ``root``: the directory that is the host's /; ``run``, ``state``: where the agent keeps its own.
    """

    host: str = field(default_factory=platform.node)
    areas: tuple[str, ...] = ("ib", "roce", "gpu", "nvlink")
    expect: str = ""
    waivers: str = ""
    seconds: float = 40.0
    timer_age: float = 0.0
    slurm_node: str = ""
    slurm_scontrol: str = "scontrol"
    slurm_age: float = 0.0
    slurm_confirm_fail: int = 1
    slurm_confirm_unknown: int = 3
    slurm_confirm_good: int = 2
    slurm_never: tuple[str, ...] = ("fabric.*",)
    interval: float = 60.0
    gate_intervals: float = 3.0
    gate_unknown: str = REFUSE
    root: str = "/"
    run: str = "/run/ibready"
    state: str = "/var/lib/ibready/agent"


def load(named: str | None = None) -> Settings:
    """The settings of this node, or those of the file that was named; raises SettingsError."""
    path = PATH if named is None else named
    try:
        raw = strict.loads(decode(read_regular(path, path)))
    except Missing:
        if named is None:
            return Settings()
        raise SettingsError(f"{path}: no such file") from None
    except (Unavailable, ValueError) as exc:
        reason = exc.reason if isinstance(exc, Unavailable) else f"not JSON: {exc}"
        raise SettingsError(f"{path}: {reason}") from None
    return from_dict(raw, path)


def from_dict(raw: Any, path: str = PATH) -> Settings:
    """The settings that a JSON object holds; raises SettingsError."""
    if not isinstance(raw, dict):
        raise SettingsError(f"{path}: not a JSON object")
    kinds = {field.name: field.type for field in fields(Settings)}
    unknown = sorted(set(raw) - set(kinds))
    if unknown:
        raise SettingsError(f"{path}: {unknown[0]} is not known; known are {', '.join(kinds)}")
    made = Settings(**{key: _value(path, key, str(kinds[key]), raw[key]) for key in raw})
    if made.gate_unknown not in (ALLOW, REFUSE):
        raise SettingsError(f"{path}: gate_unknown must be {ALLOW} or {REFUSE}")
    for key in ("seconds", "interval", "gate_intervals", "slurm_confirm_fail", "slurm_confirm_good"):
        if getattr(made, key) <= 0:
            raise SettingsError(f"{path}: {key} must be above 0")
    if not made.areas:
        raise SettingsError(f"{path}: areas names none, so nothing would be judged")
    return made


def _value(path: str, key: str, kind: str, value: Any) -> Any:
    if kind == "str" and isinstance(value, str):
        return value
    if kind.startswith("tuple"):
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            return tuple(value)
        raise SettingsError(f"{path}: {key} must be a list of strings")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and 0 <= value < 1e9:
        if kind == "float":
            return float(value)
        if kind == "int" and value == int(value):
            return int(value)
    raise SettingsError(f"{path}: {key} must be {kind}, not {value!r}")
