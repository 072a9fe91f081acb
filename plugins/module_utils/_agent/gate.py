# SPDX-License-Identifier: GPL-3.0-or-later
"""May a job start on this node? One answer for Slurm, systemd, Kubernetes and nvidia-resiliency-ext.

It is read from the kept verdict alone: no hardware is looked at, no tool is run, nothing is written.
What cannot be read, is damaged, old, or of another boot, host or clock is a closed gate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from .._ground import check as _model
from .._ground.text import plain
from . import look
from .look import GOOD
from .settings import ALLOW, Settings, SettingsError, load

_LOOK = (
    "Next: `ibready look` judges the node now; whether something keeps looking, tell"
    " `systemctl status ibready-health.timer` and, for Slurm's health check, `scontrol show config`"
)
_SET = "Next: converge with the tag health_agent_settings, which writes it"
# What stands for the verdict itself where no check is to blame.
_VERDICT = "ibready.verdict"
_LENGTH = 400


@dataclass(frozen=True)
class Answer:
    """``state``: ready, not_ready or unknown. ``may_start``: whether a job may, by the site's policy.

    ``why``: what the verdict says, or why there is none; the same words as long as nothing changes.
    ``age``: of the verdict in seconds, None where it cannot be told. ``failed``: the ids of the
    checks that close the gate, the worst first. ``simulated``: whether the hardware is.
    """

    state: str
    may_start: bool
    why: str
    host: str = ""
    age: float | None = None
    failed: tuple[str, ...] = ()
    simulated: bool = False

    def line(self) -> str:
        """One line of plain characters, the answer first."""
        host = f"SIMULATED {self.host}" if self.simulated else self.host
        begin = f"{self.state}: {host}: " if host else f"{self.state}: "
        end = "" if self.age is None else f" (looked at {self.age:.0f} s ago)"
        return plain(begin, _LENGTH) + " " + plain(self.why, _LENGTH - len(begin) - len(end)) + end

    def fail_count(self) -> str:
        """The same as JSON for nvhcd, one line: whatever closes the gate counts, and 0 opens it.

        Source: NVIDIA/nvidia-resiliency-ext, docs/source/fault_tolerance/usage_guide.rst, "Node
        health check service". Confidence: confirmed.
        """
        failed = [] if self.may_start else list(self.failed or (_VERDICT,))
        return json.dumps({"fail_count": len(failed), "failed_checks": failed, "message": self.line()})


def ask(settings: Settings) -> Answer:
    """The answer of the kept verdict."""
    age = None
    try:
        seen = look.kept(settings).without(settings.slurm_never)
        age = look.age(seen)
        limit = settings.gate_intervals * settings.interval
        if age > limit:
            raise look.NoVerdict(f"the kept verdict is older than {limit:g} s")
    except look.NoVerdict as exc:
        return Answer(_model.NOT_READY, False, f"{exc}. {_LOOK}", settings.host, age)
    closed = Answer(seen.verdict, False, "", seen.host, age, simulated=bool(seen.simulated))
    if seen.verdict == _model.READY:
        return replace(closed, may_start=True, why=_model.counts(seen.checks))
    from .policy import summary

    why = summary(seen, 200)
    if seen.verdict in GOOD:
        return replace(closed, state=_model.READY, may_start=True, why=f"{seen.verdict}, {why}")
    may_start = seen.verdict == _model.UNKNOWN_VERDICT and settings.gate_unknown == ALLOW
    if may_start:
        why += "; a job may start all the same (gate_unknown)"
    # Only what closes it: a warning does not.
    failed = tuple(dict.fromkeys(check.id for check in seen.trouble if check.severity == "error"))
    return replace(closed, may_start=may_start, why=why, failed=failed)


def of(path: str | None) -> Answer:
    """The answer by these settings, None for those of this node; settings that cannot be used close it."""
    try:
        return ask(load(path))
    except SettingsError as exc:
        return Answer(_model.NOT_READY, False, f"{exc}. {_SET}")
