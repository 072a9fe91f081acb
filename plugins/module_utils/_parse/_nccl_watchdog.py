# SPDX-License-Identifier: GPL-3.0-or-later
"""What PyTorch's watchdog tells of a collective that did not end, and of where each rank was. No I/O.

Source: ProcessGroupNCCL.cpp of PyTorch 2.0 to 2.11. A rank is told in three ways: by the logger, in front of the line
and of the whole job (`[rank6]:`), and by the process group, of that group alone (`[PG ID 3 ... Rank 2]`, `[Rank 2]`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from .._data.nccl_watchdog import OPERATIONS
from ._times import Waiting

# The states of Waiting that come of it; FINISHED: another rank timed out, and this one had begun nothing more.
TIMED_OUT, STARTED, FINISHED = "timed out", "started", "finished"
_OF_JOB = re.compile(r"\[rank(\d{1,7})\]")
_OF_GROUP = re.compile(
    r"\[PG (?:ID \d{1,9} PG GUID )?([^\s()\]]{1,40})(?: ?\(([^)]{0,60})\))? Rank (\d{1,7})\]|\[Rank (\d{1,7})\]"
)
_WHOLE = ("default_pg", "")
_WORK = re.compile(
    r"Watchdog caught collective operation timeout: WorkNCCL\((?:SeqNum=(\d{1,12}), )?OpType=([A-Z_0-9]{1,40})"
    r"(?:, NumelIn=(\d{1,15}))?.{0,200}\) ran for \d{1,12} milliseconds before timing out"
)
# `Last enqueued NCCL work: 12, last completed NCCL work: 12`; a group that did nothing has -1.
_LAST = re.compile(r"[Ll]ast enqueued (?:NCCL )?work: (-?\d{1,12}), last completed (?:NCCL )?work: (-?\d{1,12})")
_TIMEOUT, _ITS_OWN = "due to a collective timeout", "from this local rank"
_BEGINS = re.compile(r"\brank (\d{1,7}) nranks (\d{1,7})\b.{0,300}\bInit START")
# From so many ranks on a gap in their numbers is a rank that tells nothing; more than this no job has.
_SOME, _MOST = 4, 1 << 17
_WORDS = ("WorkNCCL(", "ast enqueued ", "Init START")


class Watchdog:
    """What the lines of a log amount to: by rank the operation that it was in, or had done."""

    def __init__(self) -> None:
        # Of the operation that a rank was told to have waited in: its number, name, and how many elements it sends.
        self._work: dict[str, tuple[int, str, int]] = {}
        self._found: dict[tuple[str, str], Waiting] = {}
        self._most = 0  # ranks of a communicator: that of the whole job has so many
        self._whole: set[str] = set()  # names of the group that is the whole job

    def take(self, text: str, tag: str = "") -> None:
        """Read one line; ``tag``: what a launcher or logger put first."""
        if not any(word in text for word in _WORDS):
            return
        job, of = _OF_JOB.search(tag), _OF_GROUP.search(text) or _OF_GROUP.search(tag)
        begins = _BEGINS.search(text)
        if begins is not None:
            self._begins(job.group(1) if job is not None else "", *begins.groups())
            return
        if of is None:
            return
        group, about = of.group(1) or "", of.group(2) or ""
        if job is None and group not in ("", "0") and about not in _WHOLE:
            return  # Which rank of the job it is, nobody tells.
        rank = job.group(1) if job is not None else of.group(3) or of.group(4)
        work, last = _WORK.search(text), _LAST.search(text)
        if work is not None:
            name = OPERATIONS.get(work.group(2), work.group(2).lower())
            self._waits(rank, int(work.group(1) or -1), name, int(work.group(3) or 0))
        if group in ("", "0") or about == _WHOLE[0]:
            self._whole.add(group)
        # Whose own time was over, in a group that the line does not name, tells the counts of the whole job's.
        if last is not None and not (_ITS_OWN in text and last.group(1) == last.group(2)):
            self._last(rank, group, int(last.group(1)), int(last.group(2)), _TIMEOUT in text)

    def _waits(self, rank: str, number: int, name: str, elements: int) -> None:
        """The line that names no group: its number cannot be held against those of other ranks."""
        self._work[rank] = (number, name, elements)
        if not any(known == rank for known, _group in self._found):
            self._found[rank, ""] = Waiting(rank, operation=name, state=TIMED_OUT, elements=elements)

    def _last(self, rank: str, group: str, begun: int, done: int, timeout: bool) -> None:
        number, name, elements = self._work.get(rank, (-1, "", 0))
        if rank not in self._work and not timeout:
            return  # A process that failed tells of its counts as well.
        if begun == done:
            found = Waiting(rank, "", group, begun, state=FINISHED)
        elif number == done + 1:
            found = Waiting(rank, "", group, number, name, state=TIMED_OUT, elements=elements)
            self._found.pop((rank, ""), None)
        else:
            found = Waiting(rank, "", group, done + 1, state=STARTED)
        old = self._found.get((rank, group))
        if old is None or found.sequence >= old.sequence or old.state == FINISHED:
            self._found[rank, group] = found

    def _begins(self, job: str, rank: str, ranks: str) -> None:
        """A process that begins anew: what was told of its rank is of an earlier one."""
        self._most = max(self._most, int(ranks))
        if job or int(ranks) == self._most:
            self._forget(job or rank)

    def _forget(self, rank: str) -> None:
        self._work.pop(rank, None)
        for key in [key for key in self._found if key[0] == rank]:
            del self._found[key]

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Of the group that is the whole job, with all its ranks: as many as NCCL said, or up to the highest that
        tells, where most up to there do."""
        found = [self._of_group(each) for each in self._found.values()]
        told = {each.rank for each in found if each.group in self._whole}
        highest = max(map(int, told), default=-1) + 1
        ranks = max(self._most, highest if highest >= _SOME and 2 * len(told) > highest else 0)
        members = tuple(map(str, range(ranks))) if len(told) < ranks <= _MOST else ()
        return tuple(
            replace(each, members=members) if members and each.group in self._whole else each for each in found
        )

    def _of_group(self, each: Waiting) -> Waiting:
        """Without a line of its group a rank waits in that of others with its operation, size and number."""
        number = self._work.get(each.rank, (-1, "", 0))[0]
        same = (
            one
            for one in self._found.values()
            if one.group and (one.operation, one.elements, one.sequence) == (each.operation, each.elements, number)
        )
        return each if each.group else replace(next(same, each), rank=each.rank)
