# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run is: its phase, batch, task and hosts, as the callback hears of them. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import durations

PLAYBOOKS = Path(__file__).resolve().parents[4] / "playbooks"
PLAN, CONVERGE, VERIFY, REPORT = "plan", "converge", "verify", "report"

# A playbook of ours is its own phase, but for these; by name where single plays of one differ.
BOOKS: Mapping[str, str] = {
    "judge": VERIFY,
    "verify": REPORT,
    "site": CONVERGE,
    "gather": PLAN,
    "probe": VERIFY,
}
PLAYS: Mapping[tuple[str, str], str] = {
    ("converge", "Plan"): PLAN,
    ("bundle", "Plan from the vendors' repositories"): PLAN,
}


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

    def play(self, phase: str, name: str, hosts: Collection[str], batch: tuple[int, int], at: float) -> None:
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
        return [entry for entry in self.asked if entry not in self.done]


def batches(hosts: int, serial: Sequence[Any]) -> int:
    """1 without ``serial``; the last of its sizes goes on to the end."""
    sizes = [_batch_size(entry, hosts) for entry in serial] or [-1]
    found = 0
    while hosts > 0:
        size = sizes[min(found, len(sizes) - 1)]
        found += 1
        if size <= 0:
            break
        hosts -= size
    return max(found, 1)


def _batch_size(said: Any, hosts: int) -> int:
    """A number, or a share of all hosts that is at least one."""
    if isinstance(said, str) and said.endswith("%"):
        return int(int(said.removesuffix("%")) / 100 * hosts) or 1
    return int(said)


def phase(path: str, play: str) -> str:
    """``path``: as Ansible tells it, ``FILE:LINE``. A foreign play is its own phase."""
    book = Path(path.rpartition(":")[0])
    if book.resolve().parent not in (PLAYBOOKS, PLAYBOOKS / "parts"):
        return play
    return PLAYS.get((book.stem, play), BOOKS.get(book.stem, book.stem))
