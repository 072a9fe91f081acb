# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence that somebody pasted: outputs of tools, and nothing else of the host."""

from __future__ import annotations

from typing import Iterable, Mapping, NoReturn

from .._ground.command import Output, Unavailable
from .sources import Evidence, Names, entry_name

# Of what nobody gave it is not known whether the host has it.
NOT_GIVEN = "not in the bundle"


class Pasted:
    """``texts``: by evidence name what the command printed; how it ended nobody told. ``host``: "" where no line
    names it. ``beside``: the same of the hosts that its log of a job names. ``files``: what is in files, by path."""

    recorded = True

    def __init__(
        self,
        texts: Mapping[str, str],
        host: str = "",
        beside: Iterable[Pasted] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._texts = texts
        self._files = files or {}
        self.host = host
        self.beside = tuple(beside)

    def run(self, name: str, *args: str) -> Output:
        """The text that was given for this command."""
        entry = entry_name(name, *args)
        if entry not in self._texts:
            raise Unavailable(entry, NOT_GIVEN)
        return Output(0, self._texts[entry], "")

    def read(self, path: str) -> str:
        return self._files[path] if path in self._files else _not_given(path)

    def read_bytes(self, path: str) -> bytes:
        return self.read(path).encode()

    def link(self, path: str) -> str:
        return _not_given(path)

    def mode(self, path: str) -> int:
        return _not_given(path)

    def list(self, path: str) -> Names:
        return _not_given(path)

    def again(self, seconds: float) -> tuple[Evidence, float]:
        return _not_given("a second look")


def _not_given(what: str) -> NoReturn:
    raise Unavailable(what, NOT_GIVEN)
