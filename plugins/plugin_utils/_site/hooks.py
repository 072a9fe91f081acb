# SPDX-License-Identifier: GPL-3.0-or-later
"""The site's own commands around disruptive steps: what they may look like; no I/O."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

CONTROLLER, HOST = "controller", "host"


class HookError(ValueError):
    """A command that cannot be meant, with the reason."""


@dataclass(frozen=True)
class Hook:
    """One command, without a shell; `where` it runs is the controller or the host."""

    argv: tuple[str, ...]
    where: str = CONTROLLER

    def shown(self) -> str:
        """As one would type it."""
        return shlex.join(self.argv)


def parse(raw: Any) -> tuple[Hook, ...]:
    """A list of argv lists, or of ``{run: argv, where: controller|host}``; HookError otherwise."""
    if not isinstance(raw, list):
        raise HookError(f"{raw!r} is not a list of commands")
    return tuple(_one(entry) for entry in raw)


def _one(entry: Any) -> Hook:
    argv, where = entry, CONTROLLER
    if isinstance(entry, dict):
        if set(entry) - {"run", "where"} or "run" not in entry:
            raise HookError(f"{entry!r}: a command has `run` and, if wanted, `where`")
        argv, where = entry["run"], entry.get("where", CONTROLLER)
    if where not in (CONTROLLER, HOST):
        raise HookError(f"{entry!r}: `where` is {CONTROLLER} or {HOST}")
    if not isinstance(argv, list) or not argv:
        raise HookError(f"{argv!r} is not a list of words: there is no shell to split a text")
    words = []
    for word in argv:
        if isinstance(word, bool) or not isinstance(word, (str, int, float)) or "\0" in str(word):
            raise HookError(f"{argv!r}: {word!r} is not a word; quote it in YAML")
        words.append(str(word))
    if not words[0]:
        raise HookError(f"{argv!r} names no program")
    return Hook(tuple(words), where)
