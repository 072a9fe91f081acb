# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranks of an NCCL log in words, and whether they were on one host."""

from __future__ import annotations

from typing import Callable, Sequence, TypeVar

from ..._ground.text import few
from ..._parse._nccl_facts import IB, ROCE, NcclLog, Rank

T = TypeVar("T")

# So many ranks are named; a job has thousands.
_NAMED = 3
RDMA = "InfiniBand or RoCE"


def names(ranks: Sequence[Rank]) -> str:
    """``rank 3 (node-a:195 GPU 3), ... and 5 more``."""
    named = [rank.name if rank.said.rank is None else f"rank {rank.said.rank} ({rank.name})" for rank in ranks]
    return few(named, _NAMED)


def count(log: NcclLog) -> str:
    """``2 ranks``; ``2 of 16 ranks`` where the others are not in this log."""
    seen = len(log.ranks)
    of = log.said.nranks
    if of is not None and of > seen:
        return f"{seen} of {of} ranks"
    return "1 rank" if seen == 1 else f"{seen} ranks"


def by(ranks: Sequence[Rank], key: Callable[[Rank], T]) -> dict[T, list[Rank]]:
    """The ranks by what `key` says of each."""
    found: dict[T, list[Rank]] = {}
    for rank in ranks:
        found.setdefault(key(rank), []).append(rank)
    return found


def is_rdma(rank: Rank) -> bool:
    return rank.said.network in (IB, ROCE)


def on_one_host(log: NcclLog) -> bool | None:
    """Whether the job had a single host; None where the log does not tell."""
    if log.said.nodes is not None:
        return log.said.nodes == 1
    if len(log.hosts) > 1:
        return False
    numbers = {rank.said.rank for rank in log.ranks}
    if len(log.hosts) == 1 and log.said.nranks is not None and len(numbers) == log.said.nranks:
        return True
    return None
