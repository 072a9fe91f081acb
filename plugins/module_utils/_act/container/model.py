# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine is to be told, and what becomes of its files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..._ground.text import HostFileError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"([1-9][0-9]{0,14})([kmg]?)")


class EngineError(Exception):
    """Why an engine is not as asked: the cause and the next step, and whether anything changed."""

    def __init__(self, cause: str, following: str, *, changed: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.following = following
        self.changed = changed

    def __str__(self) -> str:
        fate = "" if self.changed else " Nothing was changed."
        return f"{self.cause}.{fate} Next: {self.following}"


class EngineFileError(EngineError, HostFileError):
    """A file that the engine reads is not one that can be changed."""


@dataclass(frozen=True)
class Desired:
    """What containers are to have; a part that is empty or false is left to the site.

    ``memlock``: bytes, -1 without limit. ``shm_size``: 8g for 8 GiB, as ``docker run`` takes it. ``replace``: whether
    values of the site give way.
    """

    memlock: int | None = -1
    nofile: int | None = 1048576
    shm_size: str = ""
    cdi: bool = True
    nvidia: bool = False
    replace: bool = True

    def shm_bytes(self) -> int:
        """The size in bytes; EngineError for what is none."""
        match = _SIZE.fullmatch(self.shm_size.lower())
        if match is None:
            raise EngineError(
                f"the size of shared memory, {self.shm_size!r}, is no number with k, m or g",
                "correct it in the inventory",
            )
        return int(match.group(1)) * _UNITS[match.group(2)]


@dataclass(frozen=True)
class Change:
    """One key that is set: its name, and the value before (None: there was none) and after."""

    key: str
    before: Any
    after: Any


@dataclass
class Plan:
    """One file of an engine as it is and as it is to be (None: not there).

    ``overridden``: values of the site that give way. ``left``: what is not done, and why.
    ``record``: what is to be remembered, so that it can be taken back.
    """

    path: str
    before: str | None
    after: str | None
    changes: list[Change] = field(default_factory=list)
    overridden: list[Change] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        return self.before != self.after


def kept(path: str, value: Any) -> str:
    """Why a value of the site's is left."""
    return (
        f"{path} says {value}, which is the site's own and stays; next: allow ibready to replace it with"
        " ibready_replace_settings_ok=true, or set the role's variable to it"
    )


def bad_byte(text: str) -> int | None:
    """Where text that was read with surrogateescape is no UTF-8, None where all of it is."""
    return next((at for at, sign in enumerate(text) if "\udc80" <= sign <= "\udcff"), None)
