# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page shows of a run object before its sections: hosts in words, counts, how it ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._ground.check import READY
from ..._diagnose.finding import fabrics
from ..._hosts import summary
from ..._run.shape import VERDICTS
from .models import went
from .models.text import moment

Said = Mapping[str, Any]
# Of objects that do not say how they were run.
_RUN: Said = {"playbooks": (), "limit": "", "check_mode": False, "size": None}


@dataclass(frozen=True)
class Host:
    """One row: words of _hosts/summary, and the checks as the run has them."""

    name: str
    verdict: str
    ports: str
    manager: str
    pings: str
    moved: str
    counts: str
    checks: Sequence[Said]


@dataclass(frozen=True)
class Group:
    """A group of the inventory. ``hosts``: its hosts of this run; ``counts``: by verdict."""

    name: str
    hosts: frozenset[str]
    counts: Mapping[str, int]

    @property
    def odd(self) -> list[tuple[str, int]]:
        """The verdicts of those that are not ready, the worst first."""
        return [(word, self.counts[word]) for word in VERDICTS[:0:-1] if self.counts[word]]


@dataclass(frozen=True)
class Page:
    """``fabrics``: by ``fabric NAME`` (fabrics()). ``unasked``: why a fabric that was to be asked
    is not known. ``run``: how it was run, as far as it says. ``history``: as the run object has it."""

    created: str
    cluster: str
    groups: Sequence[Group]
    ibready: str
    simulated: str
    soft: str
    run: Said
    hosts: Sequence[Host]
    fabrics: Mapping[str, Said]
    unasked: str
    rdma: bool
    went: went.Went | None
    history: Said | None

    @property
    def at(self) -> str:
        """When it was judged, for whom no script tells the local time."""
        return moment(self.created)

    @property
    def odd_groups(self) -> list[Group]:
        """Those with hosts that are not ready, the larger part of the worst verdict first."""
        some = [group for group in self.groups if group.odd]
        return sorted(some, key=lambda group: [-group.counts[word] / len(group.hosts) for word in VERDICTS[:0:-1]])

    def within(self, places: Collection[str]) -> str:
        """The smallest group that holds all of several places; "" where none does."""
        if len(places) < 2:
            return ""
        return next((group.name for group in self.groups if group.hosts.issuperset(places)), "")

    @property
    def ready(self) -> int:
        """How many hosts are."""
        return sum(host.verdict == READY for host in self.hosts)

    @property
    def all_ready(self) -> bool:
        """Whether nothing else is: of hosts, and of fabrics that were to be asked."""
        judged = [*(host.verdict for host in self.hosts), *(fabric["verdict"] for fabric in self._fabrics)]
        return bool(self.hosts) and not self.unasked and set(judged) == {READY}

    @property
    def waived(self) -> int:
        """How many failures do not count."""
        every = [*(host.checks for host in self.hosts), *(fabric["checks"] for fabric in self._fabrics)]
        return sum(bool(check["waived"]) for checks in every for check in checks)

    @property
    def _fabrics(self) -> Sequence[Said]:
        return list(self.fabrics.values())

    @property
    def verdicts(self) -> list[tuple[str, int]]:
        """Those that occur, the best first."""
        counted = Counter(host.verdict for host in self.hosts)
        return [(verdict, counted[verdict]) for verdict in VERDICTS if counted[verdict]]


def read(run: Said) -> Page:
    """Keys that an object has not are as if they were empty."""
    pings = summary.pings_by_host(run.get("pings") or ())
    moved = summary.moved_by_host(run)
    hosts = [
        Host(
            name,
            host["verdict"],
            summary.ports(host),
            summary.subnet_manager(host),
            summary.pings(pings.get(name, ())),
            moved.get(name, summary.NOTHING),
            summary.counts(host),
            host["checks"],
        )
        for name, host in run["hosts"].items()
    ]
    how = {**_RUN, **(run.get("run") or {})}
    return Page(
        str(run["created"]),
        str(how.get("cluster") or ""),
        _groups(run["hosts"], how.get("groups") or {}),
        str(run["ibready"]),
        str(run.get("simulated") or ""),
        summary.soft_roce(run),
        how,
        hosts,
        fabrics(run),
        str((run.get("fabric") or {}).get("error") or ""),
        run.get("rdma") is not None,
        went.read(run),
        run.get("history"),
    )


def _groups(hosts: Said, raw: Mapping[str, Sequence[str]]) -> list[Group]:
    """Smallest first, as the run object has them."""
    found = [(name, frozenset(members) & hosts.keys()) for name, members in raw.items()]
    return [
        Group(name, members, Counter(hosts[host]["verdict"] for host in members)) for name, members in found if members
    ]
