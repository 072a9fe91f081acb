# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of an NCCL log without what precedes them: who said it, how loud, from which file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Iterator

from .._data import nccl_log as data
from .._ground.bound import Bound
from .._ground.text import clean_lines, is_whole

# NCCL cuts its own messages at 1024 characters; what is longer is another program's.
_LONGEST: Bound = 4096

_LEVEL = re.compile(r"NCCL (INFO|WARN|ERROR|FATAL|ABORT|ATTN|DIAG|TRACE|CALL|DEBUG|VERSION)(?: |$)")
# Up to 2.3 the word NCCL was missing: `include/socket.h:344 WARN`. Of such logs the warnings alone are read.
_OLD_LEVEL = re.compile(r"(?<![\w./-])[\w./-]{1,100}\.(?:h|cc|cu):\d{1,7} (WARN|ABORT)(?: |$)")
# Who posts a log may cut off what precedes its messages; these are nobody else's.
_BARE_LEVEL = re.compile(r"(INFO|WARN)(?: |: Function: \w{1,60} Line: \d{1,6}: )(?=NET/)")
_STRONG = re.compile(rf"(?m)^[ \t]{{0,40}}(?:{'|'.join(data.SURE_FACTS)})")
# A program's source, as people quote it: `WARN("NET/Socket : No usable listening interface found");`.
_SOURCE = re.compile(r"\b(?:WARN|INFO|TRACE)\([\w |,]{0,80}\"")
# The level of such lines.
BARE = "BARE"
# A second one on a line is a message that another process wrote into it.
_ORIGIN = re.compile(r"(?<![\w.-])[A-Za-z0-9][\w.-]{0,253}:\d{1,10}:\d{1,10} \[-?\d{1,12}\] ")
# A word in angle brackets, or dots before the name's end, stand where somebody hid the host's name.
_PROCESS = re.compile(
    r"(?:^|[^\w.-])([A-Za-z0-9][\w.-]{0,253}|\.{3}[\w-][\w.-]{0,250}|<[\w.:-]{1,80}>):(\d{1,10}):(\d{1,10})$"
)
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
_TOLD_AT_ONCE = re.compile(rf"\b{_LAST_ERROR} (\S.{{3,1000}})")
# What a launcher puts before each line, and no pattern here knows: it stands before "Last error:", too.
_MOST_BEFORE = 80
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
    asked: dict[str, str] = {}  # tags whose next line is NCCL's last warning, with what stands before it
    for number, flat in enumerate(lines, 1):
        if not flat or _SOURCE.search(flat):
            asked.clear()
            continue
        last = number == len(lines) and not whole
        pieces = _pieces(flat)
        for at, piece in enumerate(pieces, 1):
            line = _line(piece, last and at == len(pieces), tags)
            before = asked.pop(line.tag, None)
            if told and not line.level and line.text.endswith(_LAST_ERROR):
                asked[line.tag] = _before(line.text)
            if not line.level:
                line = _unnamed(line, before, told, bare)
            yield line


def _before(asking: str) -> str:
    """What stands before `Last error:` in its line, where it may stand before the next one as well."""
    before = asking[: -len(_LAST_ERROR)]
    return before if len(before) <= _MOST_BEFORE and not _ERROR_TOLD.search(before) else ""


def _unnamed(line: Line, before: str | None, told: bool, bare: bool) -> Line:
    """A line without NCCL's word for how loud it is: NCCL's last warning, or a message without its prefix."""
    at_once = _TOLD_AT_ONCE.search(line.text) if told else None
    if at_once is not None:
        return replace(line, level="WARN", text=at_once.group(1))
    if before is not None and line.text.startswith(before):
        text = line.text[len(before) :]
        if not text.startswith(_NO_ERROR):
            return replace(line, level="WARN", text=text)
    return replace(line, level=BARE) if bare else line


def _tags_of(lines: list[str]) -> frozenset[str]:
    """Names at the beginning of NCCL's own lines, which nothing but a launcher puts there."""
    tags: set[str] = set()
    for line in lines:
        found = _NAMED.match(line)
        if found is not None and found.group(1) not in tags and _LEVEL.search(line):
            tags.add(found.group(1))
    return frozenset(tags)


def _pieces(line: str) -> list[str]:
    if _LAST_ERROR in line and "\\n" in line:  # an exception as Python quotes it
        return [piece.strip() for piece in line.split("\\n") if piece.strip()]
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
