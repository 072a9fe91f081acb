# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's service: is it up, start it anew, and what it said when it did not come."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from ..._ground import unit as _unit
from ..._ground.command import Output, Unavailable, find_program, run_by_name, run_program
from ..._ground.text import ParseError
from ..._parse import systemctl_show
from .model import EngineError

_LIMIT_S = 180.0
_SHOWN = ("LoadState", "ActiveState", "MainPID")
_TELLING = ("fatal", "failed to", "unable to", "error", "invalid", "conflict", "panic")
# In these somebody wants it to run.
_UP = ("active", "activating", "reloading", "failed")


@dataclass(frozen=True)
class Service:
    """One unit: its state, and the process that runs it (0: none)."""

    unit: str
    state: str
    pid: int

    @property
    def wanted(self) -> bool:
        return self.state in _UP

    @property
    def active(self) -> bool:
        return self.state in ("active", "reloading")


def runs(root: str) -> bool:
    """Whether systemd runs on the host."""
    return os.path.isdir(os.path.join(root, "run/systemd/system"))


def look(unit: str, root: str = "/") -> Service:
    """The unit as it is; without systemd it is inactive."""
    if not unit or not runs(root):
        return Service(unit, "inactive", 0)
    done = systemctl("show", f"--property={','.join(_SHOWN)}", unit)
    try:
        shown = systemctl_show.parse(done.stdout).all
        return Service(unit, shown["ActiveState"], int(shown["MainPID"]))
    except (ParseError, KeyError, ValueError) as exc:
        raise EngineError(f"`systemctl show {unit}` cannot be read: {exc}", "look at it on the host") from exc


def active(unit: str) -> bool:
    """Whether a unit without a process of its own is up; EngineError where systemd is silent."""
    try:
        return _unit.is_up(systemctl("is-active", unit), unit)
    except Unavailable as exc:
        raise EngineError(str(exc), "look at systemd on the host") from exc


def disabled(unit: str) -> bool:
    """Whether it does not start at boot; EngineError where systemd does not say."""
    reported = systemctl("is-enabled", unit)
    if not reported.stdout.strip():
        raise EngineError(f"`systemctl is-enabled {unit}` does not say: {reported.said}", "look at it on the host")
    return reported.stdout.strip() == "disabled"


def read_units() -> None:
    """Have systemd read its units again."""
    done = systemctl("daemon-reload")
    if done.rc != 0:
        raise EngineError(f"`systemctl daemon-reload` failed: {done.said}", "fix the unit", changed=True)


def start_anew(unit: str) -> str:
    """Restart; why it did not come up, "" where it did."""
    # Too many failures in a short time would keep systemd from trying.
    systemctl("reset-failed", unit)
    begun = int(time.time())
    done = systemctl("restart", unit)
    return "" if done.rc == 0 else _why(unit, done, begun)


def take_up(unit: str) -> str:
    """Have the running service read its file again; why it did not, "" where it did."""
    begun = int(time.time())
    done = systemctl("reload", unit)
    return "" if done.rc == 0 else _why(unit, done, begun)


def _why(unit: str, done: Output, begun: int) -> str:
    """What the service wrote last, rather than systemctl's advice to look there."""
    try:
        argv = [find_program("journalctl"), f"--unit={unit}", f"--since=@{begun}"]
        journal = run_program("journalctl", [*argv, "--output=cat", "--no-pager"], 30.0).stdout
    except Unavailable:
        journal = ""
    telling = [
        line.strip()
        # systemd's own lines name the unit, and only repeat that it failed.
        for line in journal.splitlines()
        if unit not in line and any(word in line.lower() for word in _TELLING)
    ]
    return telling[-1][-400:] if telling else done.said


def systemctl(*words: str) -> Output:
    """Run it; EngineError where that cannot be done."""
    try:
        return run_by_name(["systemctl", *words], _LIMIT_S)
    except Unavailable as exc:
        raise EngineError(str(exc), "look at systemd on the host", changed=True) from exc
