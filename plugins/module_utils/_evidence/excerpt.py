# SPDX-License-Identifier: GPL-3.0-or-later
"""The few lines of a file or of a command's output that a finding is about.

Lines are given as they are, secrets masked and control characters replaced. A wrong line would
lead astray: where none can be told to be about the subject and what was observed, there are none.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Callable, NamedTuple, Sequence

from .._ground.check import Check
from .redact import masked

LINES = 6
CHARACTERS = 400
GAP = "..."
# So long a text is in no line by chance.
_TELLING = 12
# The words of a message that count have so many letters, and so many make a message.
_WORD = 4
_MESSAGE = 3

# Subjects that are not one thing of several.
_WHOLE = ("host", "fabric")
_SPLIT = re.compile(r"[\s/,;()=]+")
_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")
# With a unit or without.
_NUMBER = re.compile(r"(?<![\w.])([0-9]{1,12}(?:\.[0-9]{1,6})?)(?: ?[A-Za-z/]{1,5})?(?![\w.])")
_PCI = re.compile(r"0000(:[0-9a-f]{2}:[0-9a-f]{2})\.([0-7])")
# A line of a log begins with its time.
_LOG = re.compile(r"\[[^\]]+\] ?")


class Text(NamedTuple):
    """What a source told: path or ``$ COMMAND``, of which things (arguments, each ``*``), text.

    ``failed``: it is a command, and ended with another status than 0.
    """

    name: str
    things: tuple[str, ...]
    text: str
    failed: bool = False


def excerpt(text: Text, check: Check) -> str:
    """At most LINES lines and CHARACTERS characters of a text; "" where none is about a finding."""
    if not _is_of(text, check):
        return ""
    lines = text.text.strip().split("\n")
    if not _small(lines):
        lines = _about(lines, check)
    elif not text.things:
        lines = (_part(lines, check.subject) or lines) if _related(text, check) else []
    reported = masked(printable("\n".join(line.rstrip() for line in lines)).strip("\n"))
    return reported if len(reported) <= CHARACTERS else reported[: CHARACTERS - len(GAP)] + GAP


def printable(text: str) -> str:
    """The text without control characters and half characters."""
    return _UNPRINTABLE.sub("?", text)


def _small(lines: Sequence[str]) -> bool:
    return len(lines) <= LINES and sum(map(len, lines)) <= CHARACTERS


def _is_of(text: Text, check: Check) -> bool:
    """Whether it tells of the finding's subject and of no other; of units that were asked for
    together one will do, each has its paragraph."""
    subject = Counter(_SPLIT.split(check.subject))
    if text.name.startswith("$"):
        if any(thing.isdigit() for thing in text.things):
            return not Counter(text.things) - subject
        return not text.things or any(thing in subject for thing in text.things)
    named = subject + Counter(_SPLIT.split(check.observed))
    if Counter(text.things[:-1]) - named:
        return False
    if not Counter(text.things) - named:
        return True
    # Of a port's table (pkeys/0), the entry with what was observed.
    is_entry = len(text.things) > 2 and text.name.endswith(f"/{text.things[-1]}")
    return is_entry and text.text.strip() == check.observed


def _related(text: Text, check: Check) -> bool:
    """Whether a short text has to do with a finding: a file of the host's, or one that it names;
    why a command failed on the host; or it holds a word of what was observed."""
    is_file = text.name.startswith("/")
    if text.failed and check.subject in _WHOLE:
        return True
    if is_file and (check.subject == "host" or check.subject.startswith(text.name)):
        return True
    words = {*_SPLIT.split(check.subject), *_SPLIT.split(check.observed)}
    whole = f"{text.name}\n{text.text}" if is_file else text.text
    return any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", whole, re.IGNORECASE) for word in words if len(word) >= _WORD
    )


def _about(lines: list[str], check: Check) -> list[str]:
    """Of many lines the part about the subject; of a large part what says what was observed."""
    # The word itself says nothing: packages and logs are full of it.
    part = [] if check.subject == "host" else _part(lines, check.subject)
    if part and _small(part):
        return part
    long = len(check.observed) >= _TELLING
    if not part and check.subject != "host" and not long:
        return []
    reported = list(filter(_sayer(check.observed), part or lines))
    for topic in _topics(check):
        if any(topic in line.lower() for line in reported):
            reported = [line for line in reported if topic in line.lower()]
            break
    else:
        reported = reported if long else []
    if part and reported and _depth(part[0]) < _depth(reported[0]):
        # Whose lines these are.
        reported = [part[0], GAP, *reported]
    reported = reported[:LINES]
    return reported if _small(reported) else []


def _topics(check: Check) -> list[str]:
    return [word for word in re.split(r"[._]", check.id)[1:] if len(word) > 1]


def _part(lines: list[str], subject: str) -> list[str]:
    """The lines about a subject; [] where none names it.

    Of ``mlx5_0/1`` and ``leaf-1/7`` the last is a port, which has lines of its own in that part.
    """
    thing, _slash, port = subject.rpartition("/")
    if not port.isdigit():
        return _below(lines, _named(subject), subject)
    # ibstatus: Infiniband device 'mlx5_0' port 1 status; rdma: mlx5_0/1.
    both = re.compile(rf"(?<![\w.:-]){re.escape(thing)}(?:/|'? port ){port}(?!\w)")
    whole = _below(lines, both, thing)
    if whole:
        return whole
    head, *rest = _below(lines, _named(thing), thing) or [""]
    mine = _below(rest, re.compile(rf"\bport:?\s+{port}\b", re.IGNORECASE), port)
    if not mine:
        # iblinkinfo: LID and port of this end come first, of an adapter after its GUID.
        local = re.compile(rf"\s*(?:0x[0-9a-f]+\s+)?\d+\s+{port}\[")
        mine = [line for line in rest if local.match(line)]
    if not mine:
        return []
    return [head, *mine] if mine[0] == rest[0] else [head, GAP, *mine]


def _named(thing: str) -> re.Pattern[str]:
    before, known = r"(?<![\w.:-])", re.escape(thing)
    address = _PCI.fullmatch(thing)
    if address:
        # nvidia-smi writes eight digits of a domain, the kernel's log PCI: and no function.
        function = r"(?:\.0)?" if address[2] == "0" else rf"\.{address[2]}"
        before, known = r"(?<![\w.-])", f"(?:0000)?0000{address[1]}{function}"
    return re.compile(rf"{before}{known}(?![\w-]|[.:]\w)", re.IGNORECASE)


def _below(lines: list[str], named: re.Pattern[str], thing: str) -> list[str]:
    """The first line that matches, with what is indented below it; else its paragraph; of a text
    without paragraphs all lines that match."""
    # In each of them, and told at once.
    core = _PCI.sub(r"\1", thing).lower()
    matching = [at for at, line in enumerate(lines) if core in line.lower() and named.search(line)]
    if not matching:
        return []
    begin = matching[0]
    end = begin + 1
    while end < len(lines) and (not lines[end] or _depth(lines[end]) > _depth(lines[begin])):
        end += 1
    if any(lines[begin + 1 : end]):
        return lines[begin:end]
    if "" not in lines:
        return [lines[at] for at in matching]
    end = next((at for at in range(begin, len(lines)) if not lines[at]), len(lines))
    begin = next((at for at in range(begin, 0, -1) if not lines[at - 1]), 0)
    return lines[begin:end]


def _depth(line: str) -> int:
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def _sayer(value: str) -> Callable[[str], bool]:
    """What tells whether a line holds a value: as it is, as the same number, or as a log puts it.

    Logs and lists of packages have 100,000 lines: what can be told at once goes first.
    """
    low = value.lower()
    exact = re.compile(rf"(?<![\w.]){re.escape(value)}(?![\w.])", re.IGNORECASE)
    number = _NUMBER.fullmatch(value)
    whole = number[1].partition(".")[0] if number else ""
    words = {word for word in _SPLIT.split(value) if len(word) >= _WORD}

    def says(line: str) -> bool:
        if low in line.lower() and exact.search(line):
            return True
        if number and whole in line:
            return any(float(match[1]) == float(number[1]) for match in _NUMBER.finditer(line))
        if len(words) < _MESSAGE or not _LOG.match(line):
            return False
        return 2 * sum(word in line for word in words) > len(words)

    return says if value else lambda _line: False
