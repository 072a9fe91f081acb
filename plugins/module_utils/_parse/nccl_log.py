# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what NCCL prints with NCCL_DEBUG=INFO, of one rank or of many mixed, 2.4 to 2.32."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Iterator, NamedTuple

from .._data import nccl_log as data
from .._ground.text import clean_lines, is_whole, no_facts
from ._nccl_events import BOOTSTRAP, LINK, ONE_RANK, PROVIDER, SETTING, USED_HCA, Event, events
from ._nccl_facts import NONE, SEVERAL, Evidence, Failure, NcclLog, Rank, over_tcp
from ._nccl_failures import RESULT, failure, link_told
from ._nccl_lines import Line, lines_of
from ._nccl_seen import Seen, decide
from ._nccl_watchdog import Watchdog
from ._times import Times

_TOOL = "nccl_log"
_INTERFACE = "NCCL_SOCKET_IFNAME"
_STRANGER = "allocator_stranger"
_STRANGERS = (_STRANGER, "foreign_connection")
_PEER = re.compile(r"(?:peer|from) ([0-9a-fA-F.:]{2,45})<\d")
_ENDING = {entry.id for entry in data.KNOWN if entry.kind == data.ERROR}
_SAYS_WHY = (data.ERROR, data.CONSEQUENCE, data.UNREAD, data.REFUSED)
# Before a GPU is chosen, and where none is of interest, device 0 is current.
_ANY_GPU = ("bootstrap", "misc/socket", "include/socket", "proxy")
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
    failed: dict[int | None, Seen] = field(default_factory=dict)  # where no line is about a single GPU

    @property
    def devices(self) -> dict[int | None, Seen]:
        return self.gpus or self.failed


# A long log is asked for many things, and read once.
@lru_cache(maxsize=2)
def parse(text: str) -> NcclLog:
    """Read a log; raise ParseError on a text in which NCCL says nothing."""
    whole = Seen()
    processes: dict[_Key, _Process] = {}
    failures: dict[tuple[_At, str], Failure] = {}
    watchdog = Watchdog()
    for line in lines_of(text):
        watchdog.take(line.text, line.tag)
        found, bad = _told(line)
        if not found and bad is None and not line.level:
            continue
        key = _Key(line.tag, line.host, line.pid)
        process = processes.setdefault(key, _Process())
        process.speaks = process.speaks or bool(line.level)
        for event in found:
            whole.take(event)
            item = process.common
            if event.name in ONE_RANK:
                item = process.gpus.setdefault(line.device, Seen())
            item.take(event)
        if bad is not None:
            if line.device is not None and _of_a_gpu(line, bad):
                process.failed.setdefault(line.device, Seen())
            _count(failures, (_At(key, line.device), bad.code), bad)
    if not processes:
        raise no_facts(_TOOL, clean_lines(text), "not one line of NCCL (NCCL_DEBUG=INFO)")
    reported = _ended(_explained(whole, _at_home(failures, processes)))
    processes = _joined(processes, {at.key for at, _code in reported})
    ranks = tuple(_ranks(processes, reported))
    named = tuple(replace(entry, rank=_whose(at, processes)) for (at, _code), entry in reported.items())
    codes = frozenset(entry.code for entry in named)
    said = _together(decide(whole, codes), ranks)
    return NcclLog(said, _open(said, ranks), named, _differing(whole), not is_whole(text), watchdog.waiting)


def times(parsed: NcclLog) -> Times | None:
    """Who waited for whom when PyTorch's watchdog ended the job; None of a log in which it did not."""
    return Times(waiting=parsed.waiting) if parsed.waiting else None


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
        if bad.hca and bad.status is not None:
            found.append(Event(USED_HCA, bad.hca))
    return found, bad


def _count(failures: dict[tuple[_At, str], Failure], at: tuple[_At, str], bad: Failure) -> None:
    """Once a rank; a failure takes the place of a remark that has its code."""
    before = failures.get(at)
    if before is None or data.KINDS.index(bad.kind) < data.KINDS.index(before.kind):
        failures.pop(at, None)
        failures[at] = bad
    else:
        failures[at] = replace(before, times=before.times + bad.times)


def _of_a_gpu(line: Line, bad: Failure) -> bool:
    return not _is_result(bad) and (line.device != 0 or not line.place.startswith(_ANY_GPU))


def _explained(whole: Seen, failures: dict[tuple[_At, str], Failure]) -> dict[tuple[_At, str], Failure]:
    """What other lines tell the cause of.

    A rank was sent an empty address, where an interface was named and none was found. Libfabric's plugin
    failed, where it had found no device but TCP. Something that is no rank connected and went away again.
    """
    explained: dict[str, str] = {}
    if _INTERFACE in dict(whole.all(SETTING)) and not whole.all(BOOTSTRAP):
        explained["socket_family"] = "ifname_not_found"
    providers = whole.all(PROVIDER)
    if providers and all(over_tcp(name) for name in providers):
        explained["ofi_failed"] = "ofi_tcp"
    reported: dict[tuple[_At, str], Failure] = {}
    strangers = {at.key: code for at, code in failures if code in _STRANGERS}
    own = {interface.address for interface in whole.all(BOOTSTRAP)}
    for (at, code), found in failures.items():
        behind = explained.get(code)
        if behind is None and at.key in strangers and _of_a_stranger(found, strangers[at.key], own):
            behind = strangers[at.key]
        if behind is not None:
            known = next(entry for entry in data.KNOWN if entry.id == behind)
            found = replace(found, code=known.id, means=known.means, cause=known.cause, remedy=known.remedy)
        _count(reported, (at, found.code), found)
    return reported


def _of_a_stranger(found: Failure, stranger: str, own: set[str]) -> bool:
    """Whether what stands in the log of a process to which a stranger connected is that stranger's doing."""
    if found.code == "remote_closed":
        peer = _PEER.search(found.text)
        return peer is None or peer.group(1) not in own
    return stranger == _STRANGER and found.code == "cuda_failure" and "out of memory" in found.text


def _at_home(
    failures: dict[tuple[_At, str], Failure], processes: dict[_Key, _Process]
) -> dict[tuple[_At, str], Failure]:
    """What a program told again without NCCL's prefix belongs to its launcher's one process."""
    launched: dict[str, list[_Key]] = {}
    for key in processes:
        if key.host:
            launched.setdefault(key.tag, []).append(key)
    reported: dict[tuple[_At, str], Failure] = {}
    for (at, code), found in failures.items():
        same = launched.get(at.key.tag, []) if at.key.tag and not at.key.host else []
        home = _At(same[0], at.device) if len(same) == 1 else at
        reported.setdefault((home, code), found)
    return reported


def _ended(failures: dict[tuple[_At, str], Failure]) -> dict[tuple[_At, str], Failure]:
    """Without the numbers with which calls ended, where a line says why."""
    if not any(found.kind in _SAYS_WHY and not _is_result(found) for found in failures.values()):
        return failures
    return {key: found for key, found in failures.items() if not _is_result(found)}


def _is_result(found: Failure) -> bool:
    return found.code.startswith(RESULT)


def _joined(processes: dict[_Key, _Process], failed: set[_Key]) -> dict[_Key, _Process]:
    """The processes that are ranks; lines without host go to the processes of the same launcher.

    A version that stands alone on its line belongs to nobody where several processes speak.
    """
    named = {key: process for key, process in processes.items() if key.host}
    launched: dict[str, list[_Process]] = {}
    for key, entry in named.items():
        launched.setdefault(key.tag, []).append(entry)
    for key, process in processes.items():
        if key.host:
            continue
        same = launched.get(key.tag, []) if key.tag else []
        for item in same:
            item.common.add(process.common)
        if not same and (process.speaks or (key in failed and key.tag) or not named):
            named[key] = process
    return {key: process for key, process in processes.items() if key in named}


def _ranks(processes: dict[_Key, _Process], failures: dict[tuple[_At, str], Failure]) -> Iterator[Rank]:
    bad: dict[_Key, list[tuple[_At, Failure]]] = {}
    for (at, _code), failed in failures.items():
        bad.setdefault(at.key, []).append((at, failed))
    for key, process in processes.items():
        for device in sorted(process.devices, key=lambda gpu: -1 if gpu is None else gpu) or [None]:
            seen = Seen()
            seen.add(process.common)
            seen.add(process.devices.get(device, Seen()))
            mine = [entry for at, entry in bad.get(key, ()) if _gpu_of(at, process) in (device, None)]
            codes = tuple(dict.fromkeys(entry.code for entry in mine if entry.listed))
            said = decide(seen, frozenset(entry.code for entry in mine))
            yield Rank(_name(key, device), key.tag, key.host, key.pid, device, said, codes)


def _gpu_of(at: _At, process: _Process) -> int | None:
    """The GPU that a failure belongs to; None where it concerns the process, or nobody can tell."""
    if at.device in process.devices:
        return at.device
    return next(iter(process.devices)) if len(process.devices) == 1 else None


def _whose(at: _At, processes: dict[_Key, _Process]) -> str:
    process = processes.get(at.key)
    if process is None:
        return at.key.tag.rstrip(": ")
    return _name(at.key, _gpu_of(at, process))


def _name(key: _Key, device: int | None) -> str:
    """``node-a:195 GPU 3``; what the launcher calls it where NCCL's own prefix is missing."""
    process = f"{key.host}:{key.pid}" if key.pid is not None else key.host or key.tag.rstrip(": ")
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
        replace(rank, said=replace(rank.said, network=None))
        if rank.said.network == NONE and not set(rank.errors) & _ENDING
        else rank
        for rank in ranks
    )


def _together(said: Evidence, ranks: tuple[Rank, ...]) -> Evidence:
    """The whole log's word, where it takes every rank's."""
    networks = {rank.said.network for rank in ranks} - {None, NONE}
    kinds = {"RDMA" if network in ("IB", "RoCE") else network for network in networks}
    return replace(
        said,
        network=SEVERAL if len(kinds) > 1 else said.network,
        complete=all(rank.said.complete for rank in ranks),
    )
