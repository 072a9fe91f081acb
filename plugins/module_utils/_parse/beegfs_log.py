# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the log of a BeeGFS daemon, or of a BeeGFS 7 client by its helper: /var/log/beegfs-*.log, and their journal.

"(3) May24 11:56:05 Main [NodeConn (acquire stream)] >> Connected: ..." in a file (time alone with logNoDate, with
microseconds in some builds), "Main [App] >> ..." in the journal. Source: common/source/common/app/log/Logger.cpp. The
client's lines in the kernel's log are dmesg's.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._data import beegfs_log as data
from .._ground.text import flat_lines, is_whole, no_facts
from ._beegfs_log import BeegfsLog, Problem, Reading, by_cause

_TOOL = "beegfs_log"
NOTHING: dict[str, Any] = {
    "records": 0,
    "version": "",
    "nics": "",
    "rdma": [],
    "tcp": [],
    "problems": [],
    "errors": [],
    "unread": 0,
    "cut": False,
}
_SHOWN, _TOLD = 50, 10
_TIME = r"(?:[A-Z][a-z]{2}\d{2} )?\d{2}:\d{2}:\d{2}(?: [AP]M)?"
_RECORD = re.compile(rf"\((\d)\) ({_TIME})(?:\.\d{{6}})? (.{{0,64}}?) ?\[(.{{0,160}}?)\] >> ?(.*)")
_BEGUN = re.compile(r"\(\d\)")
_SYSLOG = re.compile(
    r"(?:([A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{8,30}) [\w.-]{1,253} )?"
    r"beegfs-\w{1,20}(?:\[\d{1,9}\])?: (.*)"
)
# Without its time and its program, as a prefix of the journal was taken off.
_PLAIN = re.compile(r"(\S{1,40}) \[([^\[\]]{1,160})\] >> ?(.*)")
# The list of interfaces, and a trace, go on below their record.
_CONTINUED = re.compile(r"\+ |\d{1,3}: |={5}")
# Without an RDMA interface BeeGFS works as it is meant to where a site has no RDMA.
_OF_SITES = (data.RAILS,)


@dataclass(frozen=True)
class Log:
    """``records``: lines of BeeGFS. ``errors``: what it says with level 0, whatever it is. ``unread``: lines of a file
    that are none of it."""

    told: BeegfsLog = field(default_factory=BeegfsLog)
    records: int = 0
    errors: tuple[str, ...] = ()
    unread: int = 0
    cut: bool = False


def parse(text: str) -> Log:
    """Read the log; raise ParseError where it holds not one record."""
    lines = flat_lines(text)
    reading = Reading()
    errors: dict[str, None] = {}
    records = unread = 0
    for line in filter(None, lines):
        record = _RECORD.match(line)
        if record is not None:
            level, when, thread, _context, message = record.groups()
            reading.take(message, thread, when)
            if level == "0":
                errors[message[:200]] = None
            records += 1
            continue
        syslog = _SYSLOG.fullmatch(line)
        plain = _PLAIN.fullmatch(syslog.group(2) if syslog else line)
        if plain is not None:
            reading.take(plain.group(3), plain.group(1), (syslog.group(1) if syslog else "") or "")
            records += 1
        elif syslog is None and not _CONTINUED.match(line):
            unread += 1
    if not records:
        raise no_facts(_TOOL, lines, "not one record of a BeeGFS daemon or client", "empty log")
    # Other programs' lines stand in a journal; what begins as a record is one that nobody could read.
    begun = sum(1 for line in lines if _BEGUN.match(line) and _RECORD.match(line) is None)
    is_file = any(_RECORD.match(line) for line in lines)
    return Log(reading.result(), records, tuple(errors), unread if is_file else begun, not is_whole(text))


def facts(parsed: Log) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    told = parsed.told
    return {
        "records": parsed.records,
        "version": told.version,
        "nics": told.nics,
        "rdma": list(told.rdma[:_SHOWN]),
        "tcp": list(told.tcp[:_SHOWN]),
        "problems": [{**asdict(problem), "means": means(problem)} for problem in told.problems[:_SHOWN]],
        "errors": list(parsed.errors[:_SHOWN]),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: Log) -> tuple[str, ...]:
    """What is wrong by the log's last words, a line a cause with its next step."""
    found = []
    for cause, mine in by_cause(parsed.told.problems).items():
        if cause not in _OF_SITES:
            known = data.CAUSES[cause]
            found.append(f"{known.means}: {shown(mine)}; next: {known.remedy}")
    return tuple(found)


def means(problem: Problem) -> str:
    return data.CAUSES[problem.cause].means


def shown(problems: list[Problem]) -> str:
    """The words of a few problems, with how often and when."""
    texts = []
    for problem in problems[:_TOLD]:
        often = f"{problem.count} times" if problem.count > 1 else ""
        last = problem.when and (f"last {problem.when}" if often else problem.when)
        told = ", ".join(filter(None, (often, last)))
        texts.append(f"{problem.what} ({told})" if told else problem.what)
    more = f" and {len(problems) - _TOLD} more" if len(problems) > _TOLD else ""
    return "; ".join(texts) + more
