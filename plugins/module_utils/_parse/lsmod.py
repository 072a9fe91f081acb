# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``lsmod`` prints, and /proc/modules, which says the same with more columns."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Mapping

from .._data.rdma_modules import RELEVANT
from .._ground.text import ParseError, clean_lines, ends_early

_TOOL = "lsmod"
_HEADER = ["module", "size", "used", "by"]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SIZE = re.compile(r"[0-9]{1,12}")
# A module that is being unloaded has -1 or -2 users.
_USED = re.compile(r"-?[0-9]{1,9}")
_USERS = re.compile(r"[A-Za-z0-9_,\[\]-]{1,4000}")
_CORE = "ib_core"
# The fifth column of /proc/modules, which has no header.
_PROC_STATE = "Live"
NOTHING: dict[str, Any] = {"n_modules": 0, "rdma_relevant": {}, "unread": 0}


class _Strange(ParseError):
    """A line of no module."""


@dataclass(frozen=True)
class Module:
    """One module: its size in bytes, how often it is used, and by which modules."""

    name: str
    size: int
    used: int
    by: tuple[str, ...]


@dataclass(frozen=True)
class Lsmod:
    """Every module listed; none is a fact as well (a kernel without modules).

    ``whole``: what is not named is not loaded. Without the header somebody picked lines, as with
    grep; only ib_core's own line still names every RDMA module there is.
    """

    modules: tuple[Module, ...]
    whole: bool = field(default=True, compare=False)
    unread: int = 0

    @property
    def cut(self) -> str:
        """Why a module that is not named may be loaded all the same, "" where each line was read."""
        return f"the text is cut: {self.unread} of its lines are no module's" if self.unread else ""

    @property
    def names(self) -> frozenset[str]:
        """What is loaded: what is listed, and what is named as a user of something listed."""
        return frozenset(name for module in self.modules for name in (module.name, *module.by))


def parse(text: str) -> Lsmod:
    """Read the list; raise ParseError on a text with more other lines than modules."""
    modules: dict[str, Module] = {}
    last: Module | None = None
    headed = False
    strange: list[ParseError] = []
    lines = clean_lines(text)
    final = len(lines) if ends_early(text) else 0
    for line_no, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if [word.lower() for word in words[:4]] == _HEADER:
            headed = True
        elif len(words) == 1 and line_no != final and last is not None and _USERS.fullmatch(words[0]):
            # The users of a busy module, wrapped.
            last = Module(last.name, last.size, last.used, last.by + _users(words[0]))
            modules[last.name] = last
        else:
            try:
                last = _module(line_no, line, words)
            except _Strange as exc:
                last = None
                strange.append(exc)
                continue
            if line_no == final and not _ends(last, words, modules):
                strange.append(_Strange(_TOOL, line_no, line, "the text ends within this line"))
                continue
            headed = headed or _PROC_STATE in words[4:5]
            known = modules.setdefault(last.name, last)
            if known != last:
                raise ParseError(_TOOL, line_no, line, "contradicts an earlier line")
    if strange and len(modules) < len(strange):
        raise strange[0]
    if not modules and not headed:
        raise ParseError(_TOOL, 0, "", "empty output: not even the header")
    found = Lsmod(tuple(modules.values()), unread=len(strange))
    return replace(found, whole=not strange and (headed or _CORE in found.names))


def facts(parsed: Lsmod) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found = {module.name: module for module in parsed.modules}
    relevant = {}
    for name in RELEVANT:
        if name in found:
            relevant[name] = {k: v for k, v in asdict(found[name]).items() if k != "name"}
    return {"n_modules": len(found), "rdma_relevant": relevant, "unread": parsed.unread}


def _module(line_no: int, line: str, words: list[str]) -> Module:
    if line.lstrip().startswith(("lsmod:", "libkmod:", "bash:", "sh:", "-bash:")):
        raise ParseError(_TOOL, line_no, line, "lsmod complains", (line.strip(),))
    if (
        len(words) < 3
        or not _NAME.fullmatch(words[0])
        or not _SIZE.fullmatch(words[1])
        or not _USED.fullmatch(words[2])
        or not all(_USERS.fullmatch(word) for word in words[3:4])
    ):
        raise _Strange(_TOOL, line_no, line, "not 'MODULE SIZE USED [BY]'")
    by = _users(words[3]) if len(words) > 3 else ()
    return Module(words[0].replace("-", "_"), int(words[1]), int(words[2]), by)


def _ends(module: Module, words: list[str], known: Mapping[str, Module]) -> bool:
    """Whether a module's line may end here: each of its users is named, the last in full."""
    if words[4:5] == [_PROC_STATE] or (module.used == 0 and len(words) == 3):
        return True
    return 0 < module.used == len(module.by) and module.by[-1] in known


def _users(word: str) -> tuple[str, ...]:
    """The users; /proc/modules ends the list with a comma, or has a dash for none."""
    return tuple(name.replace("-", "_") for name in word.split(",") if _NAME.fullmatch(name) and name != "-")
