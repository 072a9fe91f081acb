# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's service: is it up, start it anew, and what it said when it did not come."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    find_program,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._container.model import EngineError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import systemctl_show
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

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
        raise EngineError(
            f"`systemctl show {unit}` cannot be read: {exc}", "look at it on the host"
        ) from exc


def active(unit: str) -> bool:
    """Whether a unit without a process of its own is up."""
    return systemctl("is-active", unit).stdout.strip() == "active"


def read_units() -> None:
    """Have systemd read its units again."""
    done = systemctl("daemon-reload")
    if done.rc != 0:
        raise EngineError(
            f"`systemctl daemon-reload` failed: {_said(done)}", "mend the unit", changed=True
        )


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
    return telling[-1][-400:] if telling else _said(done)


def _said(done: Output) -> str:
    return " ".join((done.stderr or done.stdout).split())[-400:] or "no word"


def systemctl(*words: str) -> Output:
    """Run it; EngineError where that cannot be done."""
    try:
        return run_program("systemctl", [find_program("systemctl"), *words], _LIMIT_S)
    except Unavailable as exc:
        raise EngineError(str(exc), "look at systemd on the host", changed=True) from exc
