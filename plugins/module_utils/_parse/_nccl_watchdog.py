# SPDX-License-Identifier: GPL-3.0-or-later
"""What PyTorch's watchdog tells of a collective that did not end, and of where each rank was. No I/O.

Source: ProcessGroupNCCL.cpp of PyTorch 2.0 to 2.11.
"""

from __future__ import annotations

import re

from .._data.nccl_watchdog import OPERATIONS
from ._times import Waiting

# The states of Waiting that come of it.
TIMED_OUT, COMPLETED = "timed out", "completed"
_RANK = re.compile(
    r"\[PG (?:ID \d{1,9} PG GUID )?([^\s()\]]{1,40})(?: ?\([^)]{0,60}\))? Rank (\d{1,7})\]|\[Rank (\d{1,7})\]"
)
_WORK = re.compile(
    r"Watchdog caught collective operation timeout: WorkNCCL\((?:SeqNum=(\d{1,12}), )?OpType=([A-Z_0-9]{1,40})"
    r".{0,200}\) ran for \d{1,12} milliseconds before timing out"
)
# `Last enqueued NCCL work: 12, last completed NCCL work: 12`; a group that did nothing has -1.
_LAST = re.compile(r"[Ll]ast enqueued (?:NCCL )?work: (-?\d{1,12}), last completed (?:NCCL )?work: (-?\d{1,12})")
_WORDS = ("WorkNCCL(", "ast enqueued ")
# A communicator that begins, or torchrun's next attempt: what was told before is of an earlier one.
_ANEW = ("Init START", "restart_count=")


class Watchdog:
    """What the lines of a log amount to: by rank the operation that it was in, or had done."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._found: dict[tuple[str, str], Waiting] = {}

    def take(self, text: str) -> None:
        """Read one line, without what a launcher put first."""
        if self._found and any(word in text for word in _ANEW):
            self._found.clear()
        if not any(word in text for word in _WORDS):
            return
        of = _RANK.search(text)
        if of is None:
            return
        group, rank = of.group(1) or "", of.group(2) or of.group(3)
        work, last = _WORK.search(text), _LAST.search(text)
        if work is not None:
            self._names[rank] = OPERATIONS.get(work.group(2), work.group(2).lower())
            if work.group(1):
                self._put(Waiting(rank, "", group, int(work.group(1)), self._names[rank], state=TIMED_OUT))
        if last is not None:
            begun, done = map(int, last.groups())
            state = COMPLETED if begun == done else TIMED_OUT
            # Of what is done nobody tells the name.
            name = "" if begun == done else self._names.get(rank, "")
            self._put(Waiting(rank, "", group, begun if begun == done else done + 1, name, state=state))

    def _put(self, found: Waiting) -> None:
        """The line that names the group takes the place of the one that does not."""
        if found.group:
            self._found.pop((found.rank, ""), None)
        elif any(rank == found.rank for rank, _group in self._found):
            return
        old = self._found.get((found.rank, found.group))
        if old is None or found.sequence >= old.sequence or old.state == COMPLETED:
            self._found[found.rank, found.group] = found

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        return tuple(self._found.values())
