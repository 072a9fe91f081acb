# SPDX-License-Identifier: GPL-3.0-or-later
"""What texts that somebody pasted say, what is wrong by them, and what to ask next. No I/O.

Each text is read as the tool's whose it is, each host's lines apart, and judged by the checks of a
host, as far as they can look.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable, Sequence

from .._evidence.pasted import NOT_GIVEN, Pasted
from .._evidence.sources import COMMANDS
from .._expect.expectations import Expectations
from .._ground import check as model
from .._ground.check import Check
from .._ground.text import printable
from .._parse import names, prefix
from .catalog import CATALOG
from .fold import Line, folded
from .said import said
from .verify import AREAS, verify

# `root@node1:~# ibstat`, `[root@node1 ~]$ ibstat`, `$ ibstat`.
_PROMPT = re.compile(r"(?:\[?\w[\w.-]{0,60}@(?P<host>\w[\w.-]{0,120})[^#$\n]{0,80}?\]?)?[#$] ?(?P<words>\S.{0,400})")
_TYPED = {
    *(command.argv[0] for command in COMMANDS.values()),
    *("sudo", "ssh", "cat", "grep", "nvidia-smi", "dmesg", "journalctl", "mpirun", "srun", "kubectl", "pdsh", "clush"),
}
# Containers are started, and not pasted.
_AREAS = tuple(area for area in AREAS if area != "container")
_NEXT, _OPEN = 3, 4
_NOBODY = "nobody expects"


@dataclass(frozen=True)
class Host:
    """``name``: "" where no line tells it. ``read``: tools whose texts were read. ``bad``: what is
    wrong, a line a cause. ``open``: what the texts themselves do not tell, where nothing is wrong.
    ``ask``: commands whose output would tell most. ``told``: what tools themselves call wrong, of
    texts that no check goes by; ``says``: what such a text says. ``partly``: what was read in part."""

    name: str
    read: tuple[str, ...]
    checks: tuple[Check, ...]
    bad: tuple[Line, ...] = ()
    open: tuple[Check, ...] = ()
    ask: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        return sum(check.result == model.PASS for check in self.checks)


@dataclass
class Heard:
    """``texts``: by host and tool. ``unread``: what is no text of a tool that is known."""

    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def take(self, label: str, text: str) -> None:
        """Read one file's text."""
        for host, piece in _pieces(text):
            if not piece.strip():
                continue
            guessed = names.guess(piece)
            if not guessed:
                first = next(line for line in piece.splitlines() if line.strip())
                self.unread.append(f"{label}: no tool is known that prints {printable(first.strip())!r}")
                continue
            for part in prefix.parts(guessed[0], piece):
                self._put(part.who or host, label, guessed[0], part.text)

    def _put(self, host: str, label: str, tool: str, text: str) -> None:
        """A second text of the same tool is another host's, or of another time."""
        name, number = host, 1
        while tool in self.texts.get(name, {}):
            number += 1
            name = f"{host or 'host'} ({label})" if number == 2 else f"{host or 'host'} ({label}, {number})"
        self.texts.setdefault(name, {})[tool] = text


def judged(heard: Heard, expect: Expectations) -> list[Host]:
    """Every host, those of which something is wrong first."""
    hosts = [_host(name, texts, expect) for name, texts in heard.texts.items()]
    return sorted(hosts, key=lambda host: not (host.bad or host.told))


def verdict(hosts: Sequence[Host], heard: Heard) -> str:
    """By what is wrong; unknown where a text was not read, or says too little for any check."""
    failures = [check for host in hosts for check in host.checks if check.result == model.FAIL]
    if failures:
        return model.verdict(failures)
    if any(host.told for host in hosts):
        return model.NOT_READY
    looked = hosts and all(host.passed and not host.open and not host.partly for host in hosts)
    return model.READY if looked and not heard.unread else model.UNKNOWN


def _host(name: str, texts: dict[str, str], expect: Expectations) -> Host:
    checks = tuple(verify(Pasted(texts), expect, _AREAS).checks)
    bad = folded(model.trouble([check for check in checks if check.result == model.FAIL]))
    told = tuple(f"{tool}: {printable(wrong)}" for tool, text in texts.items() for wrong in names.wrong(tool, text))
    return Host(
        name,
        tuple(texts),
        checks,
        tuple(bad),
        () if bad else tuple(_open(checks, texts))[:_OPEN],
        _ask(checks, texts),
        told,
        tuple(_says(texts)),
        tuple(part for tool, text in texts.items() for part in _partly(tool, text)),
    )


def _says(texts: dict[str, str]) -> Iterable[str]:
    for tool, text in texts.items():
        facts, error = names.facts(tool, text)
        line = "" if error else said(tool, facts)
        if line:
            yield f"{tool}: {line}"


def _partly(tool: str, text: str) -> Iterable[str]:
    """Whether the text is cut, or has lines that nobody knows."""
    told, _error = names.facts(tool, text)
    unread = told.get("unread") or 0
    count = unread if isinstance(unread, int) else len(unread)
    if count:
        yield f"{count} line{'s' if count > 1 else ''} of {tool} {'are' if count > 1 else 'is'} unread"
    if told.get("cut"):
        yield f"the text of {tool} is cut"


def _open(checks: Iterable[Check], texts: dict[str, str]) -> Iterable[Check]:
    """What cannot be told though all that the check goes by was given."""
    for check in checks:
        needed = CATALOG[check.id].looks_at
        given = needed and all(any(one in texts for one in item.split("|")) for item in needed)
        if given and check.result == model.UNKNOWN and not any(words in check.cause for words in (NOT_GIVEN, _NOBODY)):
            yield check


def _ask(checks: Sequence[Check], texts: dict[str, str]) -> tuple[str, ...]:
    """The commands without which most checks could not look, of the areas that something is wrong in."""
    wrong = {_area(check) for check in checks if check.result == model.FAIL}
    areas = wrong or {_area(check) for check in checks if check.result == model.PASS}
    found: Counter[str] = Counter()
    for check in checks:
        if check.result != model.UNKNOWN or (areas and _area(check) not in areas):
            continue
        for item in CATALOG[check.id].looks_at:
            sources = item.split("|")
            tools = [one for one in sources if one in COMMANDS and one in names.NAMES]
            if tools and not set(sources) & set(texts):
                found[tools[0]] += 1
    return tuple(" ".join(COMMANDS[name].argv) for name, _count in found.most_common(_NEXT))


def _area(check: Check) -> str:
    return check.id.partition(".")[0]


def _pieces(text: str) -> list[tuple[str, str]]:
    """The text by the commands that somebody typed in it, each with the host of its prompt."""
    lines = text.splitlines(keepends=True)
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        typed = _PROMPT.fullmatch(line.rstrip())
        if typed is not None and typed.group("words").split()[0].rpartition("/")[2] in _TYPED:
            found.append((typed.group("host") or "", []))
        else:
            found[-1][1].append(line)
    return [(host, "".join(mine)) for host, mine in found]
