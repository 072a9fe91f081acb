# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence with outputs that somebody gave as files: a log that no host keeps by itself."""

from __future__ import annotations

from typing import List, Mapping

from .._ground.bound import Bound
from .._ground.command import Output, decode
from .._ground.paths import read_regular
from .sources import Evidence

# A job of a thousand ranks writes some ten MiB.
LIMIT: Bound = 64 * 1024 * 1024

Names = List[str]  # inside the class below `list` is a method


class Given:
    """Another source, but for the outputs in ``files``: evidence name to path."""

    def __init__(self, source: Evidence, files: Mapping[str, str]) -> None:
        self._source = source
        self._files = dict(files)
        self.recorded = source.recorded
        self.given = tuple(self._files)
        self.peers: tuple[str, ...] = getattr(source, "peers", ())

    def run(self, name: str, *args: str) -> Output:
        """Give the file's text where there is one; Unavailable where it cannot be read."""
        if name in self._files and not args:
            path = self._files[name]
            return Output(0, decode(read_regular(path, path, limit=LIMIT)), "")
        return self._source.run(name, *args)

    def read(self, path: str) -> str:
        """Give what the other source gives."""
        return self._source.read(path)

    def list(self, path: str) -> Names:
        """Give what the other source gives."""
        return self._source.list(path)

    def read_bytes(self, path: str) -> bytes:
        """Give what the other source gives."""
        return self._source.read_bytes(path)

    def link(self, path: str) -> str:
        """Give what the other source gives."""
        return self._source.link(path)

    def mode(self, path: str) -> int:
        """Give what the other source gives."""
        return self._source.mode(path)

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Give the second look, with the same files."""
        later, after = self._source.again(seconds)
        return Given(later, self._files), after
