# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that run for so long and no longer: transient systemd units with RuntimeMaxSec.

The bound is the node's own, so it holds where the controller dies or loses the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..._ground.command import Unavailable
from ..._ground.text import last_word
from ..._ground.unit import Run, UnitError, said, stop

# What systemd-run itself may take beside the program.
_GRACE_S = 15.0
# By which the journal knows what our programs say.
_WORD = "ibready-bench"
_RESULT = re.compile(r"^Finished with result: (\S+)$", re.MULTILINE)
_NOISE = re.compile(
    r"^(?:Running as unit|Finished with result|Main processes terminated|Service runtime|"
    r"CPU time consumed|Memory peak|IP traffic|IO bytes)\b.*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Ended:
    """``result``: success, exit-code, timeout, signal ... as systemd calls it."""

    result: str
    rc: int
    stdout: str
    stderr: str

    def why(self, seconds: int) -> str:
        """Why it gave no result, in words."""
        if self.result == "timeout":
            return f"it did not end within {seconds} s, and was ended"
        said = last_word(self.stdout, self.stderr)
        return said or f"it ended with {self.result or 'status'} {self.rc} and said nothing"


def wait(
    run: Run,
    unit: str,
    argv: list[str],
    seconds: int,
    *,
    env: Mapping[str, str] | None = None,
    more: Sequence[str] = (),
) -> Ended:
    """Run argv as a unit until it ends or ``seconds`` are over; raises Unavailable or UnitError.

    ``more``: properties of the unit besides, or in place of, those that all have.
    """
    head = _head(unit, seconds, env, more)
    try:
        output = run([*head, "--wait", "--pipe", *argv], seconds + _GRACE_S)
    except Unavailable:
        stop(run, [unit])
        raise
    result = _RESULT.search(output.stderr)
    if result is None and output.rc != 0:
        raise UnitError(f"{unit} not started: {last_word(output.stderr) or output.rc}")
    stderr = _NOISE.sub("", output.stderr).strip()
    return Ended(result[1] if result else "success", output.rc, output.stdout, stderr)


def start(
    run: Run,
    unit: str,
    argv: list[str],
    seconds: int,
    *,
    env: Mapping[str, str] | None = None,
    more: Sequence[str] = (),
) -> None:
    """Start argv as a unit and return; raises UnitError where systemd refuses it."""
    output = run([*_head(unit, seconds, env, more), "--quiet", *argv], 30.0)
    if output.rc != 0:
        raise UnitError(f"{unit} not started: {said(output)}; next: `systemctl status {unit}` on this host")


def log(run: Run, unit: str, since: float) -> str:
    """The last lines that the unit's program said; systemd's own about it are left out.

    ``since``: seconds of the epoch. A unit of an earlier round had the same name.
    """
    ask = ["journalctl", "--no-pager", "-n", "20", "-o", "cat", f"--since=@{since:.6f}"]
    return run([*ask, "-u", unit, "-t", _WORD], 10.0).stdout


def _head(unit: str, seconds: int, env: Mapping[str, str] | None, more: Sequence[str]) -> list[str]:
    return [
        "systemd-run",
        f"--unit={unit}",
        "--collect",
        f"--description=ibready: benchmark, {seconds} s at most",
        f"--property=RuntimeMaxSec={seconds}",
        "--property=TimeoutStopSec=5",
        "--property=KillMode=control-group",
        f"--property=SyslogIdentifier={_WORD}",
        "--property=LimitMEMLOCK=infinity",
        *(f"--property={entry}" for entry in more),
        *(f"--setenv={name}={value}" for name, value in (env or {}).items()),
    ]
