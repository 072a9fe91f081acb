# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run is: its phase, batch, task and hosts, as the callback hears of them. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.plugin_utils._progress import durations


@dataclass
class State:
    """All times are seconds of one clock. ``hosts``: those of the batch that are not lost;
    ``asked`` and ``done``: those that the task was begun on and that it ended on."""

    started: float
    last: Mapping[durations.Section, float] = field(default_factory=dict)
    sections: durations.Sections = field(default_factory=durations.Sections)
    phase: str = ""
    role: str = ""
    task: str = ""
    batch: int = 1
    batches: int = 1
    hosts: set[str] = field(default_factory=set)
    once: bool = False
    asked: dict[str, None] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    _play: str = ""

    def play(
        self, phase: str, name: str, hosts: Collection[str], batch: tuple[int, int], at: float
    ) -> None:
        """A play begins, or the next batch of it; ``batch``: which of how many."""
        self.phase, self._play = phase, name
        self.batch, self.batches = batch
        self.hosts = set(hosts)
        self._begin("", "", once=False, at=at)

    def begin(self, name: str, role: str, *, once: bool, at: float) -> None:
        """A task begins; its name without that of its role."""
        self._begin(name, role, once=once, at=at)

    def _begin(self, task: str, role: str, *, once: bool, at: float) -> None:
        self.task, self.role, self.once = task, role, once
        self.asked, self.done = {}, set()
        self.sections.enter((self.phase, self._play, str(self.batch), role), at)

    def ask(self, host: str) -> None:
        """The task begins on a host."""
        self.asked[host] = None

    def end(self, host: str, *, failed: bool = False, lost: bool = False) -> None:
        """The task ended on a host. ``lost``: nothing more is asked of it."""
        self.done.add(host)
        if failed or lost:
            self.failed.add(host)
        if lost:
            self.hosts.discard(host)

    @property
    def counts(self) -> tuple[int, int]:
        """On how many hosts the task ended, of how many."""
        total = 1 if self.once else len(self.hosts | self.done)
        return min(len(self.done), total), total

    @property
    def waiting(self) -> list[str]:
        """The hosts that the task began on and has not ended on."""
        return [one for one in self.asked if one not in self.done]
