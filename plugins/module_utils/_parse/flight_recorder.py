# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what PyTorch's flight recorder dumps when a collective does not end: a pickle, or JSON of the same.

Every process writes its own file, ``nccl_trace_rank_`` and its rank; the rank stands nowhere within. The pickle is
read by a reader that can run nothing of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Iterable, Mapping, Sized

from .._ground.bound import Bound
from .._ground.text import ParseError, clean_lines, printable, to_short_int
from . import _collective_names, _plain_pickle
from ._times import Collective, Times, Waiting

_TOOL = "flight_recorder"
NOTHING: dict[str, Any] = {"version": None, "nccl": None, "groups": [], "entries": [], "unread": 0}
COMPLETED, STARTED, SCHEDULED = "completed", "started", "scheduled"
_STATES = (COMPLETED, STARTED, SCHEDULED)
_MOST_ENTRIES: Bound = 1_000_000
_MOST_DIMENSIONS = 64
# Of a whole dump: entries, sizes, dimensions, groups and ranks, however often a pickle names the same. A ring of 20,000
# entries with 100 tensors each has fewer.
_MOST_VISITED: Bound = 4_000_000
_DIGITS = 20
# Letters of the list of a group's ranks.
_MOST_RANKS: Bound = 1_000_000
_NUMBERS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Entry:
    """One operation. ``group``: the name of its process group, ``about``: what that is for.

    ``sequence``: the number among the group's collectives, of those between two ranks among these. ``size``: bytes that
    went in or came out, of which there were more. ``milliseconds``: None without TORCH_NCCL_ENABLE_TIMING. Times of day
    are nanoseconds, 0 where not told.
    """

    record: int
    group: str
    about: str
    sequence: int
    name: str
    state: str
    size: int = 0
    p2p: bool = False
    milliseconds: float | None = None
    created_ns: int = 0
    started_ns: int = 0
    completed_ns: int = 0
    timeout_ms: int = 0


@dataclass(frozen=True)
class Group:
    """``ranks``: as the dump writes them. The last numbers are -1 where the dump does not tell."""

    name: str
    about: str = ""
    ranks: tuple[int, ...] = ()
    enqueued: int = -1
    started: int = -1
    completed: int = -1


@dataclass(frozen=True)
class FlightRecorder:
    """One process's dump. ``version``: of its form. ``unread``: entries without what an operation has."""

    version: str
    nccl: str
    groups: tuple[Group, ...]
    entries: tuple[Entry, ...]
    unread: int = 0


def parse(text: str) -> FlightRecorder:
    """Read a dump in JSON; ParseError where the text is anything else."""
    try:
        told = json.loads("\n".join(clean_lines(text)), parse_int=to_short_int, strict=False)
    except json.JSONDecodeError as exc:
        raise ParseError(_TOOL, 0, "", f"no JSON: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:
        raise ParseError(_TOOL, 0, "", "JSON that is nested too deep or has numbers too long") from exc
    return _dump(told)


def parse_bytes(data: bytes) -> FlightRecorder:
    """Read a dump as PyTorch writes it, a pickle, or the same in JSON; ParseError where the bytes are anything else."""
    if data.lstrip()[:1] in (b"{", b"["):
        return parse(data.decode("utf-8", "replace"))
    return _dump(_plain_pickle.load(_TOOL, data))


class _Visits:
    """How much of a dump is still looked at: in a pickle some bytes may stand for a list of a million."""

    def __init__(self) -> None:
        self._left = _MOST_VISITED

    def of(self, values: Sized) -> None:
        """Count them, and what holds them."""
        self._left -= 1 + len(values)
        if self._left < 0:
            raise ParseError(_TOOL, 0, "", f"more than {_MOST_VISITED:,} elements, more than are read")


def _dump(told: Any) -> FlightRecorder:
    # Before 2.3 it was the list of entries alone.
    whole: Mapping[Any, Any] = {"entries": told} if isinstance(told, list) else told if isinstance(told, dict) else {}
    raw = whole.get("entries", [])
    if not isinstance(raw, (list, tuple)) or len(raw) > _MOST_ENTRIES:
        raise ParseError(_TOOL, 0, "", "no list of entries, or too long")
    if not raw and "pg_config" not in whole:
        raise ParseError(_TOOL, 0, "", "no entries, and no process groups")
    visits = _Visits()
    visits.of(raw)
    once = {id(one): one for one in raw}
    made = {key: _entry(one, visits) for key, one in once.items()}
    entries = [made[id(one)] for one in raw]
    read = tuple(entry for entry in entries if entry is not None)
    numbered = {_number(one.get("pg_id")): _pair(one)[0] for one in once.values() if isinstance(one, dict)}
    groups = _groups(whole, numbered, visits)
    if raw and not read:
        raise ParseError(_TOOL, 0, "", "no entry that tells of an operation")
    return FlightRecorder(
        _text(whole.get("version")),
        _text(whole.get("nccl_version", whole.get("comm_lib_version"))),
        groups,
        read,
        len(entries) - len(read),
    )


def _text(value: Any) -> str:
    """A name as it may be shown: a pickle holds any letters, those that steer a terminal too."""
    return printable(value) if isinstance(value, str) else ""


def _count(value: Any, unknown: int = 0) -> int:
    """The number; in JSON the state of a group is told in texts."""
    if isinstance(value, str) and len(value) <= _DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else unknown


def _pair(one: Mapping[Any, Any]) -> tuple[str, str]:
    """Name of the process group and what it is for; releases before 2.4 have its number only."""
    pair = one.get("process_group")
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        return _text(pair[0]), _text(pair[1])
    return _text(pair) or str(_count(one.get("pg_id"))), ""


def _entry(one: Any, visits: _Visits) -> Entry | None:
    if not isinstance(one, dict):
        return None
    name, state = _text(one.get("profiling_name")), _text(one.get("state"))
    p2p = one.get("is_p2p") is True
    sequence = _count(one.get("p2p_seq_id" if p2p else "collective_seq_id", one.get("seq_id")), -1)
    if not name or state not in _STATES or sequence < 0:
        return None
    took = one.get("duration_ms")
    group, about = _pair(one)
    return Entry(
        _count(one.get("record_id")),
        group,
        about,
        sequence,
        name,
        state,
        max(_bytes(one.get(f"{way}_sizes"), one.get(f"{way}_dtypes"), visits) for way in ("input", "output")),
        p2p,
        float(took) if isinstance(took, (int, float)) and 0 <= took < 1e12 else None,
        _count(one.get("time_created_ns")),
        _count(one.get("time_discovered_started_ns")),
        _count(one.get("time_discovered_completed_ns")),
        _count(one.get("timeout_ms")),
    )


def _bytes(sizes: Any, kinds: Any, visits: _Visits) -> int:
    """Of all tensors together; 0 where a size or a type is not told."""
    if not isinstance(sizes, (list, tuple)) or not isinstance(kinds, (list, tuple)) or len(sizes) != len(kinds):
        return 0
    visits.of(sizes)
    total = 0
    for size, kind in zip(sizes, kinds):
        each = _collective_names.BYTES.get(_text(kind).lower(), 0)
        if not isinstance(size, (list, tuple)) or len(size) > _MOST_DIMENSIONS:
            return 0
        visits.of(size)
        for dimension in size:
            each *= _count(dimension)
        if not 0 < each < 2**60:
            return 0
        total += each
    return total


def _number(value: Any) -> str:
    """A group's number, which is text or none; what else a dump may hold there is not written out."""
    return str(value) if isinstance(value, (str, int)) else ""


def _groups(whole: Mapping[Any, Any], names: Mapping[str, str], visits: _Visits) -> tuple[Group, ...]:
    """``names``: of groups by their number, by which the last numbers are told."""
    told, status = whole.get("pg_config"), whole.get("pg_status")
    found: dict[str, Group] = {}
    alone = not isinstance(status, dict) or len(status) < 2
    for key, config in told.items() if isinstance(told, dict) else ():
        if isinstance(config, dict):
            # All groups of gloo have one and no name there; operations call the first 0.
            name = _text(config.get("name")) or _text(key) or ("0" if alone else "")
            found[name] = Group(name, _text(config.get("desc")), _ranks(config.get("ranks"), visits))
    for key, last in status.items() if isinstance(status, dict) else ():
        if isinstance(last, dict):
            name = names.get(str(key), printable(str(key)))
            known = found.get(name, Group(name))
            numbers = (_count(last.get(f"last_{what}_collective"), -1) for what in ("enqueued", "started", "completed"))
            found[name] = Group(name, known.about, known.ranks, *numbers)
    return tuple(group for name, group in found.items() if name)


def _ranks(value: Any, visits: _Visits) -> tuple[int, ...]:
    """``[0, 1, 2]``, as a text or as a list."""
    if isinstance(value, str):
        if len(value) > _MOST_RANKS:
            raise ParseError(_TOOL, 0, "", f"a list of ranks of {len(value)} letters, more than are read")
        visits.of(range(len(value) // 2))  # a rank and what parts it from the next have two letters at least
        value = _NUMBERS.findall(value)
    elif isinstance(value, (list, tuple)):
        visits.of(value)
    else:
        return ()
    return tuple(number for number in (_count(word, -1) for word in value) if number >= 0)


def facts(parsed: FlightRecorder) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "version": parsed.version or None,
        "nccl": parsed.nccl or None,
        "groups": [asdict(group) for group in parsed.groups],
        "entries": [asdict(entry) for entry in parsed.entries],
        "unread": parsed.unread,
    }


def times(parsed: FlightRecorder, rank: str = "", host: str = "") -> Times:
    """Of each process group where this rank is, and how long each kind of operation took, where that was measured."""
    return Times(
        collectives=tuple(_collectives(parsed, rank, host)),
        waiting=tuple(_waiting(parsed, rank, host)),
        settings={"nccl": parsed.nccl} if parsed.nccl else {},
    )


def _waiting(parsed: FlightRecorder, rank: str, host: str) -> Iterable[Waiting]:
    by_group: dict[str, list[Entry]] = {}
    for entry in parsed.entries:
        if not entry.p2p:
            by_group.setdefault(entry.group, []).append(entry)
    completed = {group.name: group.completed for group in parsed.groups}
    members = {group.name: _members(group.ranks) for group in parsed.groups}
    if len(members) == len(by_group) == 1:  # the group that operations tell of, whatever they call it
        members.update(dict.fromkeys(by_group, *members.values()))
    for group, mine in by_group.items():
        entry, state = _last(mine, completed.get(group, -1))
        kind = _collective_names.plain(entry.name)
        yield Waiting(rank, host, group, entry.sequence, kind, entry.size, state, members=members.get(group, ()))
    for known in parsed.groups:
        if known.name not in by_group and known.enqueued > 0:
            at_rest = known.completed >= known.enqueued
            state = COMPLETED if at_rest else STARTED if known.started > known.completed else SCHEDULED
            sequence = known.completed if at_rest else known.completed + 1
            yield Waiting(rank, host, known.name, sequence, state=state, members=members[known.name])


@lru_cache(maxsize=64)
def _members(ranks: tuple[int, ...]) -> tuple[str, ...]:
    """Held for all the dumps of a job: each of them tells of all ranks."""
    return tuple(map(str, ranks))


def _last(mine: list[Entry], completed: int) -> tuple[Entry, str]:
    """The first operation that has not ended since the last that has; without such a one, the last that has.

    A group's operations end in their order. ``completed``: the number of the last one as the group has it; gloo marks
    no operation as ended.
    """
    ends = [entry.state == COMPLETED or entry.sequence <= completed for entry in mine]
    ended = max((at for at, end in enumerate(ends) if end), default=-1)
    entry = mine[min(ended + 1, len(mine) - 1)]
    return entry, COMPLETED if ended == len(mine) - 1 else entry.state


def _collectives(parsed: FlightRecorder, rank: str, host: str) -> Iterable[Collective]:
    took: dict[tuple[str, str, int], list[float]] = {}
    for entry in parsed.entries:
        if entry.milliseconds is not None and entry.state == COMPLETED:
            took.setdefault((entry.group, entry.name, entry.size), []).append(entry.milliseconds / 1e3)
    many = {group.name: len(group.ranks) for group in parsed.groups}
    for (group, name, size), seconds in took.items():
        kind = _collective_names.plain(name)
        yield Collective(kind, size, tuple(seconds), (), rank, host, many.get(group, 0), group)
