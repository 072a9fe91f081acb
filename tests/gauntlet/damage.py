# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from which one source is taken away: what a check says then shows whether it looked."""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Evidence, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Output, Unavailable

ABSENT = "absent"
FAILED = "rc not 0"
CUT = "output cut"
TIMEOUT = "timeout"
DENIED = "permission denied"
KINDS = (ABSENT, FAILED, CUT, TIMEOUT, DENIED)
# A file has no exit status, and half of a value is another value.
FILE_KINDS = (ABSENT, TIMEOUT, DENIED)


def kinds_of(item: str) -> tuple[str, ...]:
    """What can happen to an item of ``looks_at``."""
    return FILE_KINDS if item.startswith("/") else KINDS


class Damaged:
    """Answers like its source, but for one item of ``looks_at`` (all its alternatives).

    ``hits`` counts how often the item was asked for and would have been there.
    """

    def __init__(self, source: Evidence, item: str, kind: str) -> None:
        self._source = source
        self._item = item
        self._kind = kind
        self._commands = {one for one in item.split("|") if not one.startswith("/")}
        paths = [one for one in item.split("|") if one.startswith("/")]
        self._path = re.compile("|".join("[^/]*".join(map(re.escape, one.split("*"))) for one in paths))
        self.recorded = source.recorded
        self.hits = 0

    def run(self, name: str, *args: str) -> Output:
        output = self._source.run(name, *args)
        if not self._commands & {name, entry_name(name, *args)}:
            return output
        self.hits += 1
        if self._kind == FAILED:
            return Output(1, "", "something went wrong\n")
        if self._kind == CUT:
            return Output(output.rc, output.stdout[: len(output.stdout) // 2], output.stderr)
        self._refuse(name, "not installed (no such program in PATH)")
        raise AssertionError(self._kind)

    def read(self, path: str) -> str:
        text = self._source.read(path)
        self._file(path)
        return text

    def read_bytes(self, path: str) -> bytes:
        data = self._source.read_bytes(path)
        self._file(path)
        return data

    def list(self, path: str) -> list[str]:
        names = self._source.list(path)
        self._file(path)
        # Where a name itself is what is looked at, it is not there any more.
        gone = {name for name in names if self._kind == ABSENT and self._matches(f"{path}/{name}")}
        self.hits += len(gone)
        return [name for name in names if name not in gone]

    def link(self, path: str) -> str:
        text = self._source.link(path)
        self._file(path)
        return text

    def mode(self, path: str) -> int:
        mode = self._source.mode(path)
        self._file(path)
        return mode

    def again(self, seconds: float) -> tuple[Evidence, float]:
        later, after = self._source.again(seconds)
        return Damaged(later, self._item, self._kind), after

    def _file(self, path: str) -> None:
        if self._matches(path):
            self.hits += 1
            self._refuse(path, "no such file")

    def _refuse(self, what: str, absent: str) -> None:
        if self._kind == TIMEOUT:
            raise Unavailable(what, "gave no complete answer within 30 s")
        if self._kind == DENIED:
            raise Unavailable(what, "permission denied")
        if self._kind == ABSENT:
            raise (Missing if what.startswith("/") else Unavailable)(what, absent)

    def _matches(self, path: str) -> bool:
        return self._path.fullmatch(path) is not None
