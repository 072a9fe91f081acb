# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what nccl_copies prints: words parted by tabs, and at the end how many lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines, is_whole

_TOOL = "nccl_copies"
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANS = {"t": "\t", "n": "\n", "r": "\r"}
_WORDS = {"copy": 6, "set": 5, "conf": 3, "unseen": 3}
# As _ask/nccl/_host_files and _ask/nccl/_copies_child say it.
_HOMES = "what users set there is not seen"
_BOUNDS = (
    *("which is not looked into", "another file system is mounted", "the search stopped after"),
    _HOMES,
)
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Copy:
    """A file of the library. ``real``: its links followed. ``version`` and ``cuda`` are "" where
    the file does not tell. ``how``: what kind of place it is, or which file leads a process there.
    """

    path: str
    real: str
    version: str
    cuda: str
    how: str


@dataclass(frozen=True)
class Setting:
    """A line of a file that sets a variable, as it stands there: shell may do so only sometimes.

    ``line``: from 1, 0 for what systemd tells.
    """

    place: str
    line: int
    name: str
    value: str


@dataclass(frozen=True)
class ConfFile:
    """A file that NCCL reads ahead of /etc/nccl.conf; ``who``: the user whose home it is in, or
    the file that sets NCCL_CONF_FILE."""

    path: str
    who: str


@dataclass(frozen=True)
class Unseen:
    """A place that was not looked into, or not to its end."""

    place: str
    why: str

    @property
    def beyond(self) -> bool:
        """Whether it only bounds the search for copies: another machine's file system, one that is
        mounted somewhere below, or more folders than are looked into."""
        return any(bound in self.why for bound in _BOUNDS)

    @property
    def holds_homes(self) -> bool:
        """Whether files may be there that NCCL reads ahead of /etc/nccl.conf."""
        return _HOMES in self.why


@dataclass(frozen=True)
class Found:
    """Everything that was told."""

    copies: tuple[Copy, ...]
    settings: tuple[Setting, ...]
    confs: tuple[ConfFile, ...]
    unseen: tuple[Unseen, ...]


def parse(text: str) -> Found:
    """Read every line; ParseError where one cannot be read, and where the end is not there."""
    lines = [(no, line) for no, line in enumerate(clean_lines(text), 1) if line.strip()]
    if not lines or not is_whole(text):
        raise ParseError(_TOOL, 0, "", "cut off")
    copies, settings, confs, unseen = [], [], [], []
    for line_no, line in lines[:-1]:
        kind, *words = (_ESCAPE.sub(_meant, word) for word in line.split("\t"))
        if len(words) + 1 != _WORDS.get(kind):
            raise ParseError(_TOOL, line_no, line, "not a line of a known kind")
        if kind == "copy":
            copies.append(Copy(*words))
        elif kind == "conf":
            confs.append(ConfFile(*words))
        elif kind == "unseen":
            unseen.append(Unseen(*words))
        elif _NUMBER.fullmatch(words[3]):
            settings.append(Setting(words[2], int(words[3]), words[0], words[1]))
        else:
            raise ParseError(_TOOL, line_no, line, "not the number of a line")
    line_no, line = lines[-1]
    if line.split("\t") != ["end", str(len(lines) - 1)]:
        raise ParseError(_TOOL, line_no, line, f"not the end of {len(lines) - 1} lines")
    return Found(tuple(copies), tuple(settings), tuple(confs), tuple(unseen))


def _meant(escaped: re.Match[str]) -> str:
    return _MEANS.get(escaped.group(1), escaped.group(1))
