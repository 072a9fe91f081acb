# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of an NCCL log without what precedes them: who said it, how loud, from which file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator

from .._ground.text import clean_lines, is_whole

# NCCL cuts its own messages at 1024 characters; what is longer is another program's.
_LONGEST = 4096

_LEVEL = re.compile(r"NCCL ([A-Z]{4,8})(?: |$)")
# A second one on a line is a message that another process wrote into it.
_ORIGIN = re.compile(r"(?<![\w.-])[A-Za-z0-9][\w.-]{0,253}:\d{1,10}:\d{1,10} \[-?\d{1,12}\] ")
_PROCESS = re.compile(r"(?:^|[^\w.-])([A-Za-z0-9][\w.-]{0,253}):(\d{1,10}):(\d{1,10})$")
_DEVICE = re.compile(r"\[(-?\d{1,12})\]")
_PLACE = re.compile(r"\S{1,200}:\d{1,7}")
_FOLDED = re.compile(r" ?\[repeated \d{1,9}x across cluster\].{0,200}$")

# What launchers, loggers and NCCL_DEBUG_TIMESTAMP_FORMAT put first.
_TIME = re.compile(
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]?)?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:? ?"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d\]? ?"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2}(?: |$)"
    r"|\[?\d{9,13}(?:\.\d{1,9})?\]?:?(?: |$)"
)
# mpirun `[1,0]<stdout>:`, torchrun `[default0]:`, Ray `(Worker pid=7, ip=10.0.0.2)`, srun `3:`,
# docker and kubectl `worker-0 |` or `[pod/worker-0/main]`.
_BRACKETS = r"\[(?!\d{6})[\w,.|/ -]{1,80}\](?:<[a-z]{1,10}>)?:? ?|\([\w .,=:/-]{1,100}\):? ?"
_TAG = re.compile(_BRACKETS + r"|[\w./-]{1,60}(?::| \|)(?: |$)")
# One process writes to both.
_STREAM = re.compile(r"<[a-z]{1,10}>")
# Other programs' messages begin with words and colons, too.
_SURE_TAG = re.compile(_BRACKETS)


@dataclass(frozen=True)
class Line:
    """``tag``: what a launcher put first; ``host``, ``pid``: the process that said it.

    ``device``: the CUDA device that was current; ``level``: INFO, WARN..., "" for another program's
    line; ``place``: the source file and line of a WARN. ``cut``: the log ends within this line.
    """

    text: str
    level: str = ""
    tag: str = ""
    host: str = ""
    pid: int | None = None
    device: int | None = None
    place: str = ""
    cut: bool = False


def lines_of(text: str) -> Iterator[Line]:
    """Every line of a log that is not empty, in order."""
    whole = is_whole(text)
    lines = clean_lines(text)
    for number, line in enumerate(lines, 1):
        flat = " ".join(line.split())
        if not flat:
            continue
        last = number == len(lines) and not whole
        pieces = _pieces(flat)
        for at, piece in enumerate(pieces, 1):
            yield _line(piece, last and at == len(pieces))


def _pieces(line: str) -> list[str]:
    if line.count("NCCL ") < 2:
        return [line]
    starts = [found.start() for found in _ORIGIN.finditer(line)][1:]
    return [line[a:b].strip() for a, b in zip([0, *starts], [*starts, len(line)])]


def _line(line: str, cut: bool) -> Line:
    line = line[:_LONGEST]
    found = _LEVEL.search(line)
    if found is None:
        tag, rest = _tag(line, _SURE_TAG)
        return Line(rest, tag=tag, cut=cut)
    words = line[: found.start()].split()
    place = host = ""
    device = pid = None
    if len(words) > 1 and words[-1].startswith("(") and _PLACE.fullmatch(words[-2]):
        words.pop()
    if words and not _PROCESS.search(words[-1]) and _PLACE.fullmatch(words[-1]):
        place = words.pop()
    number = _DEVICE.fullmatch(words[-1]) if words else None
    if number is not None:
        device = int(number.group(1))
        words.pop()
    process = _PROCESS.search(words[-1]) if words else None
    if process is not None:
        host, pid = process.group(1), int(process.group(2))
        words[-1] = words[-1][: process.start(1)]
    return Line(
        _FOLDED.sub("", line[found.end() :]),
        found.group(1),
        _tag(" ".join(words), _TAG)[0],
        host,
        pid,
        device,
        place,
        cut,
    )


def _tag(text: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """What a launcher put before a line, without times, and the rest."""
    tags = []
    while text:
        time = _TIME.match(text)
        tag = None if time else pattern.match(text)
        found = time or tag
        if found is None:
            break
        if tag is not None:
            tags.append(_STREAM.sub("", tag.group(0)).strip())
        text = text[found.end() :]
    return "".join(tags), text
