# SPDX-License-Identifier: GPL-3.0-or-later
"""How long pings can take at the worst, and how many rounds a budget holds."""

from __future__ import annotations

from dataclasses import dataclass

# Logging in and starting the module, in seconds.
_TASK = 10
# What ibping is given beyond its deadline to end by itself.
GRACE = 5
# Rounds that one Ansible task carries. A late host may then be asked by so many others at once,
# each with one datagram under way; a port of a Linux host takes 512 (IB_MAD_QP_RECV_SIZE).
VISIT = 8
# Partners of the second pass, which asks those that something is wrong with once more.
AGAIN = 4


@dataclass(frozen=True)
class Cost:
    """Of ``hosts`` with ``rails`` ports each, ``at_once`` of which ask at a time.

    ``forks`` hosts work at a time; ``deadline``: seconds of one question.
    """

    hosts: int
    rails: int
    forks: int
    deadline: int
    at_once: int

    @property
    def _waves(self) -> int:
        return -(-self.hosts // max(1, self.forks))

    @property
    def _turn_s(self) -> int:
        """Seconds of a round for one host, in which every question uses up its deadline."""
        return -(-self.rails // max(1, self.at_once)) * (self.deadline + GRACE)

    @property
    def round_s(self) -> int:
        """The same of all hosts."""
        return self._waves * self._turn_s

    def visit_s(self, rounds: int) -> int:
        """Seconds in which one host asks the partners of one visit, or of the second pass, at the worst."""
        return max(min(rounds, VISIT), AGAIN) * self._turn_s

    def worst_s(self, rounds: int) -> int:
        """Seconds of so many rounds, with servers that start and stop and a second pass."""
        if rounds <= 0:
            return 0
        tasks = 3 + visits(rounds)
        return tasks * self._waves * _TASK + (rounds + AGAIN) * self.round_s

    def fit(self, budget: int) -> int:
        """The most rounds that ``budget`` seconds hold at the worst."""
        rounds = 0
        while rounds < self.hosts and self.worst_s(rounds + 1) <= budget:
            rounds += 1
        return rounds


def visits(rounds: int) -> int:
    """The Ansible tasks that so many rounds take."""
    return -(-rounds // VISIT)
