# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's HealthCheckProgram and Prolog on this node.

Slurm kills a HealthCheckProgram after 60 seconds. Until it has ended with status 0 once, a slurmd
that starts does not register (man slurm.conf), so the status says whether the node was dealt with,
not whether it is ready. It remembers its streak until the next boot, its own drain for longer; what
cannot be read counts as forgotten: then a node stays drained until somebody resumes it.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import platform
import sys
import syslog
from dataclasses import asdict
from typing import Any

from .._ground import check as _model, state
from .._ground.command import Unavailable, find_program, run_program
from .._ground.state import StateError
from .._ground.text import ParseError, last_word
from .._parse import scontrol_node
from . import bounded, gate, judge, policy
from .policy import Drained, Streak
from .settings import Settings

# Three calls, the look and its end (bounded: 4 s) have to fit into Slurm's 60 seconds.
_CALL_S = 6.0
_LOOK_S = 36.0
# Twice what Slurm grants: a check that is there by then hangs where nobody can end it.
_HANGS_S = 120.0
_FIND = "see what it hangs in: `ps -eo pid,stat,wchan:30,args | grep slurm-health`"
# Of our environment scontrol gets only where its configuration is: SLURM_TIME_FORMAT and the like
# would change what it prints.
_KEPT = ("PATH", "SLURM_CONF", "SLURM_CONF_SERVER", "TZ", "LD_LIBRARY_PATH")


def _known_streak(settings: Settings) -> Streak:
    """The looks before this one."""
    known = _load(_streak_path(settings))
    try:
        return Streak(bool(known["good"]), int(known["count"]), float(known["looked_at"]))
    except (KeyError, TypeError, ValueError):
        return Streak()


def known_drained(settings: Settings) -> Drained:
    """What we drained the node with."""
    known = _load(_drained_path(settings))
    return Drained(*(str(known.get(key, "")) for key in ("reason", "stamp", "cause")))


def _keep_drained(settings: Settings, value: Drained) -> None:
    """Raises StateError where it cannot be written; writes nothing where that stands there."""
    if value != known_drained(settings):
        state.save_file(_drained_path(settings), asdict(value) if value.reason else {})


def _streak_path(settings: Settings) -> str:
    return os.path.join(settings.run, "slurm.json")


def _drained_path(settings: Settings) -> str:
    return os.path.join(settings.state, "slurm.json")


def _load(path: str) -> dict[str, Any]:
    try:
        return state.load_file(path)
    except state.StateError as exc:
        print(f"ibready: {exc}", file=sys.stderr)
        return {}


class SlurmError(Exception):
    """Slurm could not be asked or told; the message says what to do next."""


def health(settings: Settings) -> int:
    """Drain or give back this node where that is due; 0 where the node was dealt with."""
    name = node_name(settings)
    try:
        with bounded.locked(os.path.join(settings.run, "slurm.lock"), 0.0, heirs=False):
            return _dealt_with(settings, name)
    except bounded.Busy as exc:
        if exc.seconds > _HANGS_S:
            reported = f"another health check has not ended for {exc.seconds:.0f} s"
            _log(f"{name}: slurm-health: {reported}. Next: {_FIND}", syslog.LOG_ERR)
            return 1
        # It is bounded in time, and what it sees is as young as anything that we could.
        print(f"{name}: {policy.NOTHING}: another health check deals with it")
    except (SlurmError, StateError, OSError) as exc:
        _log(f"{name}: slurm-health: {exc}", syslog.LOG_ERR)
        return 1
    return 0


def _dealt_with(settings: Settings, name: str) -> int:
    seen = judge.current(settings, settings.slurm_age, min(settings.seconds, _LOOK_S))
    seen = seen.without(settings.slurm_never)
    # Only now: a look takes seconds, in which somebody may have taken the node over.
    node = _shown(settings, name)
    streak = _known_streak(settings).then(seen)
    drained = known_drained(settings)
    decision = policy.decide(node, seen, streak, drained, settings)
    if decision.action == policy.DRAIN:
        _drain(settings, name, decision, policy.cause_of(seen))
    elif decision.action == policy.RESUME:
        _call(settings, "update", f"NodeName={name}", "State=RESUME")
        _keep_drained(settings, policy.Drained())
        _log(f"{name}: resumed ({decision.why}); it was drained for {drained.reason!r}")
    elif drained.reason and not node.any_of("DRAIN", "DRAINED", "DRAINING"):
        _keep_drained(settings, policy.Drained())
    # Last: a full /run keeps no bad node in use.
    state.save_file(_streak_path(settings), asdict(streak))
    print(f"{name}: {decision.action}: {decision.why}")
    return 0


def prolog(given: str | None) -> int:
    """Whether a job may start here: 1 has Slurm drain the node and requeue the job.

    Slurm itself is not asked: commands of Slurm have no place in a Prolog.
    """
    answer = gate.of(given)
    if not answer.may_start:
        _log(f"prolog: no job starts here: {answer.line()}", syslog.LOG_ERR)
        return 1
    if answer.state != _model.READY:
        _log(f"prolog: {answer.line()}")
    return 0


def node_name(settings: Settings) -> str:
    """The node's name in Slurm: as set, as slurmd says, else the host's short name."""
    said = settings.slurm_node or os.environ.get("SLURMD_NODENAME", "")
    return said or platform.node().split(".")[0]


def _drain(settings: Settings, name: str, decision: policy.Decision, cause: str) -> None:
    words = ("State=DRAIN", f"Reason={decision.reason}")
    _call(settings, "update", f"NodeName={name}", *words)
    node = _shown(settings, name)
    if node.reason != decision.reason:
        raise SlurmError(f"drained, but the reason is {node.reason!r}; it is not resumed by itself")
    _keep_drained(settings, policy.Drained(node.reason, node.stamp, cause))
    _log(f"{name}: drained: {decision.reason}")


def _shown(settings: Settings, name: str) -> scontrol_node.Node:
    try:
        node = scontrol_node.parse(_call(settings, "show", "node", name))
    except ParseError as exc:
        raise SlurmError(f"{exc}. Next: `scontrol show node {name}`") from None
    if node.name != name:
        raise SlurmError(f"asked for node {name}, and told of {node.name}")
    return node


def _call(settings: Settings, *words: str) -> str:
    """What scontrol prints; raises SlurmError."""
    shown = f"scontrol {' '.join(words[:2])}"
    if any(word.startswith("-") for word in words):
        raise SlurmError(f"{shown}: a word that begins with '-' is none for scontrol")
    known = {key: os.environ[key] for key in _KEPT if key in os.environ}
    try:
        program = find_program(settings.slurm_scontrol)
        env = {"PATH": os.defpath, **known, "LC_ALL": "C"}
        done = run_program("scontrol", [program, *words], _CALL_S, env=env)
    except Unavailable as exc:
        raise SlurmError(f"{shown}: {exc.reason}. {_NEXT}") from None
    if done.rc != 0:
        said = last_word(done.stdout, done.stderr) or "no word"
        raise SlurmError(f"{shown}: status {done.rc}: {said}. {_NEXT}")
    return done.stdout


_NEXT = "Next: see `scontrol ping`, and health_agent_slurm_node and _scontrol where names differ"


def _log(text: str, level: int = syslog.LOG_WARNING) -> None:
    """To the journal, for slurmd keeps what its programs print only where they fail."""
    print(text, file=sys.stderr)
    syslog.openlog("ibready", 0, syslog.LOG_DAEMON)
    syslog.syslog(level, text)
