# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what NCCL prints with NCCL_DEBUG=INFO, of one rank or of many mixed, 2.4 to 2.32."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Iterator, NamedTuple

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_events import (
    BOOTSTRAP,
    LINK,
    ONE_RANK,
    SETTING,
    USED_HCA,
    Event,
    events,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_facts import (
    NONE,
    SEVERAL,
    Evidence,
    Failure,
    NcclLog,
    Rank,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_failures import (
    failure,
    link_told,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_lines import (
    Line,
    lines_of,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_seen import (
    Seen,
    decide,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import (
    ParseError,
    clean_lines,
    is_whole,
)

_TOOL = "nccl_log"
_INTERFACE = "NCCL_SOCKET_IFNAME"
_ENDING = {one.id for one in data.KNOWN if one.kind == data.ERROR}
NOTHING: dict[str, Any] = NcclLog(Evidence(), ()).to_dict()


class _Key(NamedTuple):
    """Whose lines belong together: one process; without host what only a launcher names."""

    tag: str
    host: str
    pid: int | None


class _At(NamedTuple):
    """Where a failure was told: the process, and the CUDA device that was current."""

    key: _Key
    device: int | None


@dataclass
class _Process:
    """What one process said: ``common`` to all of its GPUs, and of each GPU."""

    common: Seen = field(default_factory=Seen)
    gpus: dict[int | None, Seen] = field(default_factory=dict)
    speaks: bool = False


def parse(text: str) -> NcclLog:
    """Read a log; raise ParseError on a text in which NCCL says nothing."""
    whole = Seen()
    processes: dict[_Key, _Process] = {}
    failures: dict[tuple[_At, str], Failure] = {}
    for line in lines_of(text):
        found, bad = _told(line)
        if not found and bad is None and not line.level:
            continue
        key = _Key(line.tag, line.host, line.pid)
        process = processes.setdefault(key, _Process())
        process.speaks = process.speaks or bool(line.level)
        for event in found:
            whole.take(event)
            one = process.common
            if event.name in ONE_RANK:
                one = process.gpus.setdefault(line.device, Seen())
            one.take(event)
        if bad is not None:
            at = (_At(key, line.device), bad.code)
            before = failures.get(at)
            failures[at] = replace(before, times=before.times + 1) if before else bad
    if not processes:
        raise _no_log(text)
    told = _explained(whole, _at_home(failures, processes))
    processes = _joined(processes, {at.key for at, _code in told})
    ranks = tuple(_ranks(processes, told))
    named = tuple(replace(one, rank=_whose(at, processes)) for (at, _code), one in told.items())
    codes = frozenset(one.code for one in named)
    said = _together(decide(whole, codes), ranks)
    return NcclLog(said, _open(said, ranks), named, _differing(whole), not is_whole(text))


def facts(parsed: NcclLog) -> dict[str, Any]:
    """As docs/nccl-logs.md has it."""
    return parsed.to_dict()


def _told(line: Line) -> tuple[list[Event], Failure | None]:
    found = list(events(line))
    bad = failure(line)
    if bad is not None:
        link = link_told(line)
        if link:
            found.append(Event(LINK, link))
        if bad.hca:
            found.append(Event(USED_HCA, bad.hca))
    return found, bad


def _no_log(text: str) -> ParseError:
    lines = clean_lines(text)
    number, line = next(((n, line) for n, line in enumerate(lines, 1) if line), (0, ""))
    if not number:
        return ParseError(_TOOL, 0, "", "empty output")
    return ParseError(_TOOL, number, line, "not one line of NCCL (NCCL_DEBUG=INFO)")


def _explained(
    whole: Seen, failures: dict[tuple[_At, str], Failure]
) -> dict[tuple[_At, str], Failure]:
    """A rank that was sent an empty address, where an interface was named and none was found."""
    named = _INTERFACE in dict(whole.all(SETTING))
    if not named or whole.all(BOOTSTRAP):
        return failures
    known = next(one for one in data.KNOWN if one.id == "ifname_not_found")
    told: dict[tuple[_At, str], Failure] = {}
    for (at, code), one in failures.items():
        if code == "socket_family":
            one = replace(
                one, code=known.id, means=known.means, cause=known.cause, remedy=known.remedy
            )
        told.setdefault((at, one.code), one)
    return told


def _at_home(
    failures: dict[tuple[_At, str], Failure], processes: dict[_Key, _Process]
) -> dict[tuple[_At, str], Failure]:
    """What a program told again without NCCL's prefix belongs to its launcher's one process."""
    launched: dict[str, list[_Key]] = {}
    for key in processes:
        if key.host:
            launched.setdefault(key.tag, []).append(key)
    told: dict[tuple[_At, str], Failure] = {}
    for (at, code), one in failures.items():
        same = launched.get(at.key.tag, []) if at.key.tag and not at.key.host else []
        home = _At(same[0], at.device) if len(same) == 1 else at
        told.setdefault((home, code), one)
    return told


def _joined(processes: dict[_Key, _Process], failed: set[_Key]) -> dict[_Key, _Process]:
    """The processes that are ranks; lines without host go to the processes of the same launcher.

    A version that stands alone on its line belongs to nobody where several processes speak.
    """
    named = {key: one for key, one in processes.items() if key.host}
    launched: dict[str, list[_Process]] = {}
    for key, one in named.items():
        launched.setdefault(key.tag, []).append(one)
    for key, process in processes.items():
        if key.host:
            continue
        same = launched.get(key.tag, []) if key.tag else []
        for one in same:
            one.common.add(process.common)
        if not same and (process.speaks or (key in failed and key.tag) or not named):
            named[key] = process
    return {key: one for key, one in processes.items() if key in named}


def _ranks(
    processes: dict[_Key, _Process], failures: dict[tuple[_At, str], Failure]
) -> Iterator[Rank]:
    bad: dict[_Key, list[tuple[_At, Failure]]] = {}
    for (at, _code), failed in failures.items():
        bad.setdefault(at.key, []).append((at, failed))
    for key, process in processes.items():
        for device in sorted(process.gpus, key=lambda one: -1 if one is None else one) or [None]:
            seen = Seen()
            seen.add(process.common)
            seen.add(process.gpus.get(device, Seen()))
            mine = [one for at, one in bad.get(key, ()) if _gpu_of(at, process) in (device, None)]
            codes = tuple(dict.fromkeys(one.code for one in mine if one.listed))
            said = decide(seen, frozenset(one.code for one in mine))
            yield Rank(_name(key, device), key.tag, key.host, key.pid, device, said, codes)


def _gpu_of(at: _At, process: _Process) -> int | None:
    """The GPU that a failure belongs to; None where it concerns the process, or nobody can tell."""
    if at.device in process.gpus:
        return at.device
    return next(iter(process.gpus)) if len(process.gpus) == 1 else None


def _whose(at: _At, processes: dict[_Key, _Process]) -> str:
    process = processes.get(at.key)
    if process is None:
        return at.key.tag.rstrip(": ")
    return _name(at.key, _gpu_of(at, process))


def _name(key: _Key, device: int | None) -> str:
    """``node-a:195 GPU 3``; what the launcher calls it where NCCL's own prefix is missing."""
    process = f"{key.host}:{key.pid}" if key.host else key.tag.rstrip(": ")
    gpu = f"GPU {device}" if device is not None else ""
    return " ".join(part for part in (process, gpu) if part) or "the log"


def _differing(whole: Seen) -> tuple[str, ...]:
    """Settings that were told with several values."""
    names = [name for name, _value in whole.all(SETTING)]
    return tuple(sorted({name for name in names if names.count(name) > 1}))


def _open(said: Evidence, ranks: tuple[Rank, ...]) -> tuple[Rank, ...]:
    """A rank that found no HCA may have gone on where others did, beyond what the log shows."""
    if said.network == NONE:
        return ranks
    return tuple(
        replace(one, said=replace(one.said, network=None))
        if one.said.network == NONE and not set(one.errors) & _ENDING
        else one
        for one in ranks
    )


def _together(said: Evidence, ranks: tuple[Rank, ...]) -> Evidence:
    """The whole log's word, where it takes every rank's."""
    networks = {one.said.network for one in ranks} - {None, NONE}
    kinds = {"RDMA" if one in ("IB", "RoCE") else one for one in networks}
    return replace(
        said,
        network=SEVERAL if len(kinds) > 1 else said.network,
        complete=all(one.said.complete for one in ranks),
    )
