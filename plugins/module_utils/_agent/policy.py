# SPDX-License-Identifier: GPL-3.0-or-later
"""When a node is drained and when it is given back: pure, from Slurm's state and our looks.

A node that ibready drained is known by the reason and by who set it when, as slurmctld shows them.
Whatever else is drained or down is somebody else's, also where only the reason was changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground import check as _model
from .._ground.text import plain
from .._parse.scontrol_node import Node
from .._verify.fold import folded
from .look import GOOD, Look
from .settings import Settings

DRAIN, RESUME, NOTHING = "drain", "resume", "nothing"
PREFIX = "ibready: "
# A reason is one line of `sinfo -R`.
_LENGTH = 120
_DRAINED = ("DRAIN", "DRAINED", "DRAINING")
_OUT = (*_DRAINED, "DOWN", "FAIL", "FAILING")
_ENOUGH = 1000


@dataclass(frozen=True)
class Streak:
    """How many looks in a row were good, or were not; ``looked_at`` is the last one's."""

    good: bool = True
    count: int = 0
    looked_at: float = 0.0

    def then(self, seen: Look) -> Streak:
        """With this look; the same one again counts once."""
        good = seen.verdict in GOOD
        if seen.looked_at == self.looked_at and self.count:
            return self
        count = self.count + 1 if good == self.good else 1
        return Streak(good, min(count, _ENOUGH), seen.looked_at)


@dataclass(frozen=True)
class Drained:
    """What we set, as slurmctld shows it. ``cause``: check id and subject, "" where unknown."""

    reason: str = ""
    stamp: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Decision:
    """``action``: one of the three above. ``reason``: for Slurm. ``why``: for people."""

    action: str
    why: str
    reason: str = ""


def is_ours(node: Node, drained: Drained) -> bool:
    """Whether the node is drained by us, and nobody has touched that since."""
    known = bool(drained.reason) and (node.reason, node.stamp) == (drained.reason, drained.stamp)
    return known and node.any_of(*_DRAINED)


def decide(node: Node, seen: Look, streak: Streak, drained: Drained, settings: Settings) -> Decision:
    """What to do with the node; ``streak`` includes this look."""
    if is_ours(node, drained):
        return _ours(node, seen, streak, drained, settings)
    if node.any_of(*_OUT):
        state = "+".join(node.states)
        reported = f"the node is {state} ({node.reason or 'no reason'}), which is not ibready's"
        if node.reason.startswith(PREFIX):
            reported += ": the reason was changed, or set by somebody else. Resume it by hand"
        return Decision(NOTHING, reported)
    if seen.verdict in GOOD:
        return Decision(NOTHING, f"{seen.verdict}, and the node takes jobs")
    need = _needed(seen, settings)
    if not need or streak.count < need:
        return Decision(NOTHING, f"{seen.verdict} for {streak.count} looks, {need or 'no'} drain")
    return Decision(DRAIN, seen.verdict, reason_of(seen))


def _ours(node: Node, seen: Look, streak: Streak, drained: Drained, settings: Settings) -> Decision:
    need = settings.slurm_confirm_good
    if seen.verdict in GOOD:
        if streak.count < need:
            return Decision(NOTHING, f"good for {streak.count} of {need} looks")
        if not node.responds:
            return Decision(NOTHING, "good, but slurmctld does not hear of the node yet")
        return Decision(RESUME, f"{seen.verdict} for {streak.count} looks")
    gone = drained.cause not in {_cause(check) for check in seen.trouble}
    if seen.verdict == _model.NOT_READY and gone and streak.count >= settings.slurm_confirm_fail:
        return Decision(DRAIN, "drained for another cause by now", reason_of(seen))
    return Decision(NOTHING, f"{seen.verdict}, and the node stays drained")


def _needed(seen: Look, settings: Settings) -> int:
    """How many looks in a row drain the node; 0 for never."""
    if seen.verdict == _model.NOT_READY:
        return settings.slurm_confirm_fail
    return settings.slurm_confirm_unknown


def cause_of(seen: Look) -> str:
    """What the worst of the checks is about, "" where there is none."""
    lines = folded(seen.trouble)
    return _cause(lines[0].check) if lines else ""


def _cause(check: _model.Check) -> str:
    return f"{check.id} {check.subject}"


def reason_of(seen: Look) -> str:
    """The reason for Slurm: one line that names the check, in plain characters."""
    return plain(PREFIX + summary(seen, _LENGTH - len(PREFIX)), _LENGTH)


def summary(seen: Look, length: int) -> str:
    """The worst of the causes in one line of at most ``length`` characters."""
    lines = folded(seen.trouble)
    if not lines:
        return plain(f"no verdict: {seen.why or 'nothing was looked at'}", length)
    worst = lines[0].check
    said = f"unknown, {worst.cause}" if worst.result == _model.UNKNOWN else worst.observed
    text = f"{worst.id} {worst.subject} {said}"
    if worst.result == _model.FAIL and worst.expected:
        text += f", expected {worst.expected}"
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return plain(text, length - len(more)) + more
