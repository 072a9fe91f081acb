# SPDX-License-Identifier: GPL-3.0-or-later
"""What changed on which host while ansible-playbook runs: told by the callback ``changes``.

The callback runs in ansible-playbook itself; an action, in a fork of it, sees what was told so far.
"""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reported:
    """``started``: when ansible-playbook began, None where nobody listens. ``tasks``: by host."""

    started: datetime.datetime | None = None
    tasks: dict[str, Counter[str]] = field(default_factory=dict)

    def begin(self, now: datetime.datetime) -> None:
        """A new run, of which nothing is known."""
        self.started = now
        self.tasks = {}

    def changed(self, host: str, task: str) -> None:
        """One more time that a task changed a host."""
        self.tasks.setdefault(host, Counter())[task] += 1

    def to_dict(self) -> dict[str, list[dict[str, Any]]] | None:
        """By host, in the order in which it happened; None where nobody listened."""
        if self.started is None:
            return None
        return {
            host: [{"task": task, "times": times} for task, times in tasks.items()]
            for host, tasks in self.tasks.items()
        }


TOLD = Reported()
