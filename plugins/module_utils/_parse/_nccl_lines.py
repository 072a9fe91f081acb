# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of an NCCL log without what precedes them: who said it, how loud, from which file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Iterator

from .._ground.text import clean_lines, is_whole

# NCCL cuts its own messages at 1024 characters; what is longer is another program's.
_LONGEST = 4096

_LEVEL = re.compile(r"NCCL (INFO|WARN|ERROR|FATAL|ABORT|TRACE|CALL|DEBUG|VERSION)(?: |$)")
# Up to 2.3 the word NCCL was missing: `include/socket.h:344 WARN`. Of such logs the warnings alone are read.
_OLD_LEVEL = re.compile(r"(?<![\w./-])[\w./-]{1,100}\.(?:h|cc|cu):\d{1,7} (WARN|ABORT)(?: |$)")
# Who posts a log may cut off what precedes its messages; these are nobody else's.
_BARE_LEVEL = re.compile(r"(INFO|WARN) (?=NET/)")
_STRONG = re.compile(
    r"(?m)^[ \t]{0,40}(?:NET/IB : Using \[0\]\S{1,80}:\d{1,4}/"
    r"|Channel \d{1,3}(?:/\d{1,3})? : \d{1,7}\[\w{1,16}\] -> \d{1,7}\["
    r"|ncclCommInitRank\w{0,20} comm 0x[0-9a-f]{1,20} rank \d)"
)
# A second one on a line is a message that another process wrote into it.
_ORIGIN = re.compile(r"(?<![\w.-])[A-Za-z0-9][\w.-]{0,253}:\d{1,10}:\d{1,10} \[-?\d{1,12}\] ")
# A word in angle brackets stands where somebody hid the host's name.
_PROCESS = re.compile(r"(?:^|[^\w.-])([A-Za-z0-9][\w.-]{0,253}|<[\w.:-]{1,80}>):(\d{1,10}):(\d{1,10})$")
_HIDDEN = re.compile(r"<[\w .:-]{1,80}>(?=:\d{1,10}:\d)")
_NUMBERS = re.compile(r":\d{1,10}:\d{1,10}")
# A host without a process; no logger's level, and no launcher's name of a rank.
_HOST = re.compile(r"(?![A-Z]{1,10}$|rank\d)[A-Za-z0-9][\w.-]{0,253}")
_DEVICE = re.compile(r"\[(-?\d{1,12})\]")
# aws-ofi-nccl puts a function there, with blanks: `int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):259`.
_PLACE = re.compile(r"\S{1,200}:\d{1,7}")
_WORDS_OF_A_PLACE = 8
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
# What stands before NCCL's lines is a tag on other lines, too.
_NAMED = re.compile(r"([\w./-]{1,60}(?::| \|)) ")
# The line after it is NCCL's last warning, as PyTorch tells it. Where there was none, something else follows.
_LAST_ERROR = "Last error:"
_ERROR_TOLD = re.compile(
    r"\bNCCL error in: |\bnccl(?:(?:UnhandledCuda|System|Internal|Remote)Error|Invalid(?:Argument|Usage)): "
)
_NO_ERROR = ("Exception raised from ", "Traceback ", "frame #", "terminate called", "[", "File ", "***")
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
    lines = [" ".join(line.split()) for line in clean_lines(text)]
    tags = _tags_of(lines)
    bare = _LEVEL.search(text) is None and _STRONG.search(text) is not None
    told = _ERROR_TOLD.search(text) is not None
    asked: set[str] = set()  # tags whose next line is NCCL's last warning
    for number, flat in enumerate(lines, 1):
        if not flat:
            asked.clear()
            continue
        last = number == len(lines) and not whole
        pieces = _pieces(flat)
        for at, piece in enumerate(pieces, 1):
            line = _line(piece, last and at == len(pieces), tags)
            if not line.level and line.tag in asked and not line.text.startswith(_NO_ERROR):
                line = replace(line, level="WARN")
            elif not line.level and bare:
                line = replace(line, level="INFO")
            asked.discard(line.tag)
            if told and line.text == _LAST_ERROR:
                asked.add(line.tag)
            yield line


def _tags_of(lines: list[str]) -> frozenset[str]:
    """Names at the beginning of NCCL's own lines, which nothing but a launcher puts there."""
    tags: set[str] = set()
    for line in lines:
        found = _NAMED.match(line)
        if found is not None and found.group(1) not in tags and _LEVEL.search(line):
            tags.add(found.group(1))
    return frozenset(tags)


def _pieces(line: str) -> list[str]:
    if line.count("NCCL ") < 2:
        return [line]
    starts = [found.start() for found in _ORIGIN.finditer(line)][1:]
    return [line[a:b].strip() for a, b in zip([0, *starts], [*starts, len(line)])]


def _line(line: str, cut: bool, tags: frozenset[str]) -> Line:
    line = line[:_LONGEST]
    found = _level(line)
    if found is None:
        named = _NAMED.match(line)
        first = named.group(1) if named is not None and named.group(1) in tags else ""
        tag, rest = _tag(line[len(first) :].lstrip(), _SURE_TAG)
        return Line(rest, tag=first + tag, cut=cut)
    start = found.start() if found.re is _LEVEL else found.start(1)
    before = _HIDDEN.sub(lambda name: name.group(0).replace(" ", "_"), line[:start])
    words, place = _placed(before.split())
    device = pid = None
    number = _DEVICE.fullmatch(words[-1]) if words else None
    if number is not None:
        device = int(number.group(1))
        words.pop()
    if len(words) > 1 and _NUMBERS.fullmatch(words[-1]):
        words[-2:] = ["".join(words[-2:])]
    process = _PROCESS.search(words[-1]) if words else None
    host = ""
    if process is not None:
        host, pid = process.group(1), int(process.group(2))
        words[-1] = words[-1][: process.start(1)]
    tag, rest = _tag(" ".join(words), _TAG)
    if process is None and number is not None and _HOST.fullmatch(rest):
        host = rest
    return Line(_FOLDED.sub("", line[found.end() :]), found.group(1), tag, host, pid, device, place, cut)


def _level(line: str) -> re.Match[str] | None:
    """NCCL's word for how loud a line is, where it has one."""
    found = _LEVEL.search(line)
    if found is None and (" WARN" in line or " ABORT" in line):
        found = _OLD_LEVEL.search(line)
    return found or _BARE_LEVEL.match(line)


def _placed(words: list[str]) -> tuple[list[str], str]:
    """The words before a level, without the source file and line, and these."""
    if len(words) > 1 and words[-1].startswith("(") and _PLACE.fullmatch(words[-2]):
        words.pop()
    if not words or _PROCESS.search(words[-1]) or not _PLACE.fullmatch(words[-1]):
        return words, ""
    place = words.pop().rpartition("/src/")[2]  # RCCL has whole paths
    for at in range(len(words) - 1, max(0, len(words) - _WORDS_OF_A_PLACE), -1):
        if _DEVICE.fullmatch(words[at]) and _PROCESS.search(words[at - 1]):
            return words[: at + 1], " ".join([*words[at + 1 :], place])
    return words, place


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
