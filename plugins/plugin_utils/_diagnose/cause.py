# SPDX-License-Identifier: GPL-3.0-or-later
"""What a diagnosis says of one cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding


@dataclass(frozen=True)
class Cause:
    """``rank``: 1 is the likeliest reason. ``subjects``: what of the hosts it is about.

    ``loss``: the share of bandwidth that is gone, 0 to 1; ``computed`` from the evidence, and not
    the usual one of such a cause. ``evidence`` are the checks that show it, ``explains`` failures
    of others that follow from it, ``hides`` what could not be looked at because of it.
    ``mends``: whether the command is all that is to do; else ``note`` says what hands have to do.
    """

    rank: int
    id: str
    title: str
    hosts: Sequence[str]
    subjects: Sequence[str]
    effect: str
    costs: str
    loss: float
    computed: bool
    evidence: Sequence[Finding]
    explains: Sequence[Finding]
    hides: Sequence[Finding]
    command: str
    mends: bool
    note: str
    confidence: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rank": self.rank,
            "id": self.id,
            "title": self.title,
            "hosts": list(self.hosts),
            "subjects": list(self.subjects),
            "effect": self.effect,
            "costs": self.costs,
            "loss": round(self.loss, 3),
            "computed": self.computed,
            "evidence": [one.to_dict() for one in self.evidence],
            "explains": [one.to_dict() for one in self.explains],
            "hides": [one.to_dict() for one in self.hides],
            "command": self.command,
            "mends": self.mends,
            "note": self.note,
            "confidence": self.confidence,
            "source": self.source,
        }
