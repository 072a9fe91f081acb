# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse how a job ended, in the midst of whatever its log holds: which rank or task failed first, and of what.

Lines of PyTorch (tracebacks that name their rank, torchrun's summary), of Slurm's srun and slurmstepd, and of mpirun.
What other ranks say afterwards (a collective that failed, a peer that is gone, SIGTERM) follows from the first, and
whatever stands behind the words of PyTorch's watchdog follows from the wait that it ended: torchrun then calls the
rank whose watchdog was the quickest the root cause.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from .._ground.text import flat_lines, no_facts
from ._times import End, Times

_TOOL = "job_end"
NOTHING: dict[str, Any] = {"ends": []}
# What srun (--label) or a logger put first.
_RANK = r"(?:(?P<label>\d{1,7}): ?)?(?:\[rank(?P<rank>\d{1,7})\]: ?)?"
_RAISED = re.compile(_RANK + r"(?P<what>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception): .{1,400})")
_SRUN = re.compile(
    r"(?:\d{1,7}: )?srun: error: (?P<host>[\w.-]{1,255}): tasks? (?P<task>[\d,-]{1,80}): (?P<what>.{3,80})"
)
_STEP = re.compile(
    r"\*\*\* (?:STEP|JOB) \S{1,40} ON (?P<host>[\w.,\[\]-]{1,255}) CANCELLED AT \S{10,30} "
    r"DUE TO (?P<what>[A-Z ]{4,40})"
)
_OOM = re.compile(r"slurmstepd: error: Detected \d{1,9} oom[_-]kill event")
_MPI = re.compile(
    r"mpirun noticed that process rank (?P<task>\d{1,7}) with PID \d{1,9} on node (?P<host>[\w.-]{1,255}) "
    r"exited on (?P<what>signal \d{1,3} \([^)]{1,40}\))"
)
_ROOT = "Root Cause (first observed failure):"
_FIELD = re.compile(r"(time|host|rank|exitcode|error_file|traceback) ?: (.{1,300})")
_FIELDS = 12
# What tells how a process ended and not why; of these, how one that a watchdog ends does.
_STATUS = re.compile(r"exit status|ended by|Exited with exit code")
_BARE = re.compile(r"exit status|ended by SIGABRT|Exited with exit code|Aborted")
_WATCHDOG = "Watchdog caught collective operation timeout"
# What a rank says because another one failed.
_FOLLOWS = re.compile(
    r"DistBackendError|DistNetworkError|ChildFailedError|NCCL|ncclRemoteError|[Cc]onnection (?:reset|closed|refused)"
    r"|Broken pipe|Socket Timeout|Terminated|SIGTERM|exit code 0\b|signal:? 15\b|KeyboardInterrupt"
)
# Where srun gives a step up, it ends the tasks itself.
_STOPPED, _KILLED = "srun: Job step aborted: ", "Killed"
_NUMBER = re.compile(r"\d{1,7}")


@dataclass(frozen=True)
class JobEnd:
    """``ends``: what failed by itself, a line each, in order. ``first``: what torchrun calls the first; of several
    hosts' words, the earliest."""

    ends: tuple[End, ...]
    first: End | None = None


def parse(text: str) -> JobEnd:
    """Every failure that follows from no other; ParseError for a text that tells of none."""
    lines = flat_lines(text)
    found: list[End] = []
    roots: list[tuple[str, End]] = []
    stopped = False
    for at, line in enumerate(lines):
        stopped |= _STOPPED in line
        if _WATCHDOG in line:
            break
        if _ROOT in line and (root := _root(line, lines[at + 1 : at + _FIELDS])) is not None:
            roots.append(root)
            found.append(root[1])
        elif (end := _end(line)) is not None and not (stopped and end.what == _KILLED):
            found.append(end)
    if not found:
        raise no_facts(_TOOL, lines, "no line tells that a rank or task failed")
    return JobEnd(tuple(found), min(roots, key=lambda root: root[0])[1] if roots else None)


def _once(parsed: JobEnd) -> tuple[End, ...]:
    """One of each rank, the first first: a sentence of its own goes before an exit status, and the host is told by
    whoever knows it."""
    found: dict[str, End] = {}
    nobodys: list[End] = []
    for end in (*((parsed.first,) if parsed.first is not None else ()), *parsed.ends):
        if not end.rank:
            nobodys += [] if end in nobodys else [end]
            continue
        old = found.get(end.rank, end)
        better = end if _STATUS.match(old.what) and not _STATUS.match(end.what) else old
        found[end.rank] = replace(better, host=old.host or end.host)
    return (*found.values(), *nobodys)


def _told(rank: str, host: str, what: str, line: str) -> End:
    return End(rank, host, what, line, _BARE.match(what) is not None)


def _end(line: str) -> End | None:
    if ("rror" in line or "xception" in line) and (raised := _RAISED.match(line)):
        what = raised["what"]
        rank = raised["rank"] or raised["label"] or ""
        return None if _FOLLOWS.search(what) or not rank else _told(rank, "", _short(what), line)
    if "srun: error: " in line and (told := _SRUN.match(line)):
        number = told["task"] if _NUMBER.fullmatch(told["task"]) else ""
        follows = _FOLLOWS.search(told["what"]) or not number
        return None if follows else _told(number, told["host"], told["what"].strip(), line)
    if "CANCELLED AT" in line and (step := _STEP.search(line)):
        return _told("", step["host"], step["what"].strip().lower(), line)
    if "slurmstepd: error: Detected" in line and _OOM.search(line):
        return _told("", "", "the kernel ended a process that took too much memory (oom_kill)", line)
    if "mpirun noticed" in line and (gone := _MPI.search(line)):
        return None if _FOLLOWS.search(gone["what"]) else _told(gone["task"], gone["host"], gone["what"], line)
    return None


def _root(head: str, lines: list[str]) -> tuple[str, End] | None:
    """Its time, as torchrun writes it, and the end."""
    told = {match[1]: match[2].strip() for line in lines if (match := _FIELD.fullmatch(line))}
    rank = _NUMBER.match(told.get("rank", ""))
    if rank is None:
        return None
    code = (_NUMBER.search(told.get("exitcode", "")) or [""])[0]
    signal = re.match(r"Signal (\d{1,3}) \((\w{1,20})\)", told.get("traceback", ""))
    what = f"ended by {signal[2]}" if signal else f"exit status {code}"
    return told.get("time", ""), _told(rank[0], told.get("host", ""), what, head)


def _short(what: str) -> str:
    """The sentence, without the figures that follow it."""
    return what.partition(". ")[0][:200]


def facts(parsed: JobEnd) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {"ends": [{**asdict(end), "rank": end.rank or None, "host": end.host or None} for end in parsed.ends]}


def times(parsed: JobEnd) -> Times:
    """As a job's evidence."""
    return Times(ends=_once(parsed))
