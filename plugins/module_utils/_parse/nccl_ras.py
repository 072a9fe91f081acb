# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what NCCL's RAS answers of a running job (ncclras, or port 28028): its text since 2.24, its JSON since 2.28.7.

The text tells which ranks differ from the rest; JSON tells every rank, and the comparison is ours. Counts that differ
are of a job at work, too: only where they stay does it hang.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Iterator, Mapping

from .._ground.text import ParseError, clean_lines, no_facts, to_short_int
from . import _collective_names
from ._times import Times, Waiting

_TOOL = "nccl_ras"
NOTHING: dict[str, Any] = {"version": None, "seconds": None, "groups": [], "problems": [], "outliers": []}
BEHIND, AHEAD, MISSING = "behind", "ahead", "missing"
_VERSION = re.compile(r"NCCL version ([0-9.]{1,20})\S{0,30} compiled with CUDA")
_SECONDS = re.compile(r"Communicators\.\.\. ?\(([0-9]{1,9}\.[0-9]{1,6})s\)")
_GROUP = re.compile(
    r"([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})(?:-([0-9]{1,9}))? ([0-9]{1,9}) ([0-9]{1,9}) "
    r"([A-Z]{1,20}) ([A-Z]{1,20}(?:,[A-Z]{1,20}){0,4})"
)
_PROBLEM = re.compile(r"(?:#([0-9]{1,9})-([0-9]{1,9}) \(([0-9a-f]{1,16})\) )?(INCOMPLETE|MISMATCH|ERROR|DEAD|TIMEOUT)")
_ABOUT = re.compile(r"Communicator ranks have different (?:(\w{1,30}) )?(operation counts|status)")
_MANY = re.compile(r"([0-9]{1,9}) ranks have (?:launched up to operation ([0-9]{1,18})|(not) launched any operations)")
_ONE = re.compile(r"Rank ([0-9]{1,10}) has (?:launched up to operation ([0-9]{1,18})|(not) launched any operations)\b")
_RANK = re.compile(r"Rank ([0-9]{1,10}) (.{0,200}?)-- ")
_WHERE = re.compile(r"GPU (\S{1,20}) managed by process ([0-9]{1,12}) on node (\S{1,255})")
_OLD_MISSING = re.compile(r"The missing ranks?: ([0-9, ]{1,4000})")
# What the server says to what a client asks before the status.
_PROTOCOL = re.compile(r"OK$|SERVER PROTOCOL [0-9]{1,6}$")
_TITLES = frozenset(("Job summary", "Errors", "Warnings"))


@dataclass(frozen=True)
class Group:
    """Communicators that are alike. ``status`` and ``errors``: as they are told; "" in JSON, which tells of ranks."""

    communicators: int
    nodes: int
    ranks: int
    status: str
    errors: str


@dataclass(frozen=True)
class Problem:
    """``communicator``: its hash; "" where it is of the job. ``said``: the lines below its head."""

    kind: str
    communicator: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class Outlier:
    """A rank that is behind or ahead of the most, or of which nothing came. ``count``: up to which operation."""

    communicator: str
    rank: str
    state: str
    host: str = ""
    gpu: str = ""
    pid: int = 0
    operation: str = ""
    count: int = -1


@dataclass(frozen=True)
class NcclRas:
    """``seconds``: how long the answer took; a process that does not answer makes it long."""

    version: str
    seconds: float | None
    groups: tuple[Group, ...]
    problems: tuple[Problem, ...]
    outliers: tuple[Outlier, ...]


def parse(text: str) -> NcclRas:
    """What the job's processes say of each other; ParseError for a text of anything else, or a cut answer in JSON."""
    lines = clean_lines(text)
    first = next((at for at, line in enumerate(lines) if line.strip() and not _PROTOCOL.match(line.strip())), 0)
    if lines[first : first + 1] and lines[first].lstrip().startswith("{"):
        return _json("\n".join(lines[first:]))
    flat = [" ".join(line.split()) for line in lines]
    if not any(line == "Job summary" or _SECONDS.match(line) for line in flat):
        raise no_facts(_TOOL, lines, "no summary of a job, and no communicators")
    return _Text(flat).read()


class _Text:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._groups: list[Group] = []
        self._problems: list[tuple[str, str, list[str]]] = []
        self._outliers: list[Outlier] = []
        # Of the comparison at hand: its operation, how many ranks are up to which count, and which are named.
        self._operation = ""
        self._counts: Counter[int] = Counter()
        self._count: int | None = None
        self._named: list[tuple[int, Outlier]] = []

    def read(self) -> NcclRas:
        version, seconds = "", None
        for line in self._lines:
            told = _VERSION.search(line)
            took = _SECONDS.match(line)
            group = _GROUP.fullmatch(line)
            problem = _PROBLEM.fullmatch(line)
            if told is not None:
                version = told[1]
            elif took is not None:
                seconds = float(took[1])
            elif problem is not None:
                self._compare()
                self._problems.append((problem[4], problem[3] or "", []))
            elif group is not None and not self._problems:
                self._groups.append(Group(int(group[2]), int(group[3]), int(group[6]), group[8], group[9]))
            elif line in _TITLES or set(line) == {"="}:
                self._compare()
            elif self._problems and line:
                self._problems[-1][2].append(line)
                self._detail(line, self._problems[-1][0], self._problems[-1][1])
        self._compare()
        problems = tuple(Problem(kind, communicator, tuple(said)) for kind, communicator, said in self._problems)
        return NcclRas(version, seconds, tuple(self._groups), problems, tuple(self._outliers))

    def _detail(self, line: str, kind: str, communicator: str) -> None:
        about, many, one, rank = _ABOUT.match(line), _MANY.match(line), _ONE.match(line), _RANK.match(line)
        if about is not None:
            self._compare()
            kinds = about[1] if about[1] not in (None, "collective") else ""
            self._operation = kinds or ""
        elif many is not None:
            self._count = int(many[2] or 0)
            self._counts[self._count] += int(many[1])
        elif kind == "INCOMPLETE" and communicator:
            self._missing(line, communicator, rank)
        elif kind == "MISMATCH" and rank is not None:
            if one is not None:
                self._counts[int(one[2] or 0)] += 1
            count = int(one[2] or 0) if one else None if rank[2].strip() else self._count
            if count is not None:
                self._named.append((count, _outlier(communicator, rank[1], line, self._operation, count)))

    def _missing(self, line: str, communicator: str, rank: re.Match[str] | None) -> None:
        old = _OLD_MISSING.match(line)
        for number in re.findall("[0-9]{1,9}", old[1]) if old else []:
            self._outliers.append(Outlier(communicator, number, MISSING))
        if rank is not None:
            found = _outlier(communicator, rank[1], line)
            self._outliers.append(Outlier(communicator, found.rank, MISSING, found.host, found.gpu, found.pid))

    def _compare(self) -> None:
        """Say of the ranks that were named whether they are behind the most or ahead of them."""
        if self._counts:
            most = max(self._counts, key=lambda count: (self._counts[count], count))
            for count, rank in self._named:
                if count != most:
                    state = BEHIND if count < most else AHEAD
                    self._outliers.append(_with_state(rank, state))
        self._operation, self._counts, self._count, self._named = "", Counter(), None, []


def _outlier(communicator: str, rank: str, line: str, operation: str = "", count: int = -1) -> Outlier:
    where = _WHERE.search(line)
    host, gpu, pid = (where[3], where[1], int(where[2])) if where else ("", "", 0)
    return Outlier(communicator, rank, "", host, gpu, pid, operation, count)


def _with_state(one: Outlier, state: str) -> Outlier:
    return Outlier(one.communicator, one.rank, state, one.host, one.gpu, one.pid, one.operation, one.count)


def _json(text: str) -> NcclRas:
    try:
        # What the protocol says after it, or the next answer, is no part of the first.
        told, _end = json.JSONDecoder(parse_int=to_short_int, strict=False).raw_decode(text.lstrip())
    except json.JSONDecodeError as exc:
        raise ParseError(_TOOL, exc.lineno, "", f"no JSON from here on: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:
        raise ParseError(_TOOL, 0, "", "JSON that is nested too deep or has numbers too long") from exc
    raw = told.get("communicators")
    if not isinstance(raw, list) or "nccl_version" not in told:
        raise ParseError(_TOOL, 0, "", "no communicators, and no version of NCCL")
    communicators = [one for one in raw if isinstance(one, dict)]
    groups = tuple(Group(1, len(_hosts(one)), _count(one.get("size")), "", "") for one in communicators)
    problems = tuple(problem for one in communicators for problem in _problems(one))
    outliers = tuple(outlier for one in communicators for outlier in _outliers(one))
    took = told.get("ras", {}).get("collection_time_sec") if isinstance(told.get("ras"), dict) else None
    seconds = float(took) if isinstance(took, (int, float)) and 0 <= took < 1e9 else None
    return NcclRas(_text(told.get("nccl_version")), seconds, groups, problems, outliers)


def _text(value: Any) -> str:
    return value[:255] if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _list(one: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = one.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _hash(one: Mapping[str, Any]) -> str:
    """As the text writes it: 16 digits."""
    word = _text(one.get("hash"))
    return word[2:].zfill(16) if re.fullmatch("0x[0-9a-f]{1,16}", word) else word


def _hosts(one: Mapping[str, Any]) -> set[str]:
    return {_text(rank.get("host")) for key in ("ranks", "missing_ranks") for rank in _list(one, key)}


def _problems(one: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong beyond doubt: errors of a rank, and processes that do not answer."""
    for rank in _list(one, "ranks"):
        for what in ("init_state", "async_error"):
            state = _count(_status(rank).get(what))
            # 0 is success, 7 in progress.
            if state not in (0, 7):
                said = f"rank {_count(rank.get('rank'))} on {_text(rank.get('host'))} reports {what} {state}"
                yield Problem("ERROR", _hash(one), (said,))
    for rank in _list(one, "missing_ranks"):
        dead = _status(rank).get("considered_dead") is True
        number, host = _count(rank.get("rank")), _text(rank.get("host"))
        said = f"rank {number} on {host} {'is considered dead' if dead else 'gave no data'}"
        yield Problem("DEAD" if dead else "INCOMPLETE", _hash(one), (said,))


def _status(rank: Mapping[str, Any]) -> Mapping[str, Any]:
    status = rank.get("status")
    return status if isinstance(status, dict) else {}


def _outliers(one: Mapping[str, Any]) -> Iterator[Outlier]:
    ranks = _list(one, "ranks")
    counts: dict[str, Counter[int]] = {}
    for rank in ranks:
        for operation, count in _counts(rank):
            counts.setdefault(operation, Counter())[count] += 1
    usual = {operation: max(many, key=lambda count: (many[count], count)) for operation, many in counts.items()}
    for rank in ranks:
        for operation, count in _counts(rank):
            if count != usual[operation]:
                yield _of_json(one, rank, BEHIND if count < usual[operation] else AHEAD, operation, count)
    for rank in _list(one, "missing_ranks"):
        yield _of_json(one, rank, MISSING, "", -1)


def _counts(rank: Mapping[str, Any]) -> list[tuple[str, int]]:
    told = rank.get("collective_counts")
    if not isinstance(told, dict):
        return []
    return [(name[:60], count) for name, count in told.items() if isinstance(count, int) and len(told) < 100]


def _of_json(one: Mapping[str, Any], rank: Mapping[str, Any], state: str, operation: str, count: int) -> Outlier:
    return Outlier(
        _hash(one),
        str(_count(rank.get("rank"))),
        state,
        _text(rank.get("host")),
        str(_count(rank.get("cuda_dev"))),
        _count(rank.get("pid")),
        operation,
        count,
    )


def facts(parsed: NcclRas) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "version": parsed.version or None,
        "seconds": parsed.seconds,
        "groups": [asdict(group) for group in parsed.groups],
        "problems": [asdict(problem) for problem in parsed.problems],
        "outliers": [asdict(outlier) for outlier in parsed.outliers],
    }


def wrong(parsed: NcclRas) -> tuple[str, ...]:
    """Processes that are dead or do not answer, and errors that ranks report; differing counts are not."""
    found = []
    for problem in parsed.problems:
        if problem.kind in ("DEAD", "ERROR", "INCOMPLETE"):
            of = f" of communicator {problem.communicator}" if problem.communicator else ""
            found.append(f"NCCL RAS tells {problem.kind}{of}: {'; '.join(problem.said)}")
    return tuple(found)


def times(parsed: NcclRas) -> Times:
    """Every rank that is behind or ahead; and of each communicator the ranks of which nothing came."""
    waiting = [
        Waiting(
            one.rank,
            one.host,
            one.communicator,
            one.count,
            _collective_names.plain(one.operation) if one.operation else "",
            state=one.state,
        )
        for one in parsed.outliers
        if one.state != MISSING
    ]
    missing: dict[str, list[str]] = {}
    for one in parsed.outliers:
        if one.state == MISSING:
            missing.setdefault(one.communicator, []).append(one.rank)
    waiting += [Waiting("", group=group, state=MISSING, missing=tuple(ranks)) for group, ranks in missing.items()]
    return Times(waiting=tuple(waiting), settings={"nccl": parsed.version} if parsed.version else {})
