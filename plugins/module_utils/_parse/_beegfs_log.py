# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BeeGFS log tells by its last words: who was reached how, and what went wrong and was not mended since."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable, Iterable, Iterator, Tuple

from .._data import beegfs_log as data
from .._ground.text import escaped, few, printable

# What is spoken to by RDMA; the management server only ever is by TCP.
_OF_DATA = ("beegfs-meta", "beegfs-storage")
_RDMA = "RDMA"
_LONGEST = 200
# So many addresses of a server that failed are kept, and named.
_TRIED, _SHOWN = 16, 3
OURS = "beegfs: "
# The kernel's own form: "beegfs: mount(3019): CONTEXT: MESSAGE"; of interrupts, and of the module's symbols, without
# who runs. Source: client_module Common.h, printk_fhgfs.
KERNEL = re.compile(r"beegfs: (?:(.{1,16}?)\((\d{1,10})\): )?(.+)")
_CONNECTED = re.compile(
    r"Connected: (beegfs-\w{1,20})@(\S{1,80}) \(protocol: (\w{1,10}|<\w{1,10}>)(;? ?\(?fallback route\)?)?\)"
)
_FAILED = re.compile(r"Connect failed: (beegfs-\w{1,20})@(\S{1,80}) \(protocol: (\w{1,10}|<\w{1,10}>)\)")
_LOST = re.compile(r"Connect failed on all available routes: (beegfs-\w{1,20})\s{1,4}(\S.{0,254}?) \[ID: \d{1,10}\]")
_NICS = re.compile(r"Usable NICs: ?(.{0,900})")
_VERSION = re.compile(r"(?:BeeGFS Client )?Version: (\S{1,40})$")
_MESSAGES = [(message, re.compile(message.pattern)) for message in data.MESSAGES]


@dataclass(frozen=True)
class Problem:
    """``cause``: a key of CAUSES. ``what``: the log's words, or the server. ``when``: last, as the log has it.
    ``failed``: the servers' addresses that were not reached, or not by RDMA."""

    cause: str
    what: str
    count: int = 1
    when: str = ""
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class BeegfsLog:
    """``lines``: of BeeGFS. ``spoke``: whether it tells of connections, which a client does only in the log that it is
    told to keep. ``nics``: the interfaces that it may use, as it names them. ``rdma``, ``tcp``: servers of data that
    were reached last by each. ``problems``: those that nothing later ended."""

    lines: int = 0
    spoke: bool = False
    version: str = ""
    nics: str = ""
    rdma: tuple[str, ...] = ()
    tcp: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def by_cause(problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """The problems of each cause, in order; the other ways that were taken with what made RDMA impossible, if that is
    told."""
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        found.setdefault(problem.cause, []).append(problem)
    reason = next((cause for cause in data.FOLLOWS[data.FALLBACK] if cause in found), None)
    if reason is not None:
        found[reason] += found.pop(data.FALLBACK, [])
    return found


# A server's address and a protocol: with IPoIB both have the same address.
_Key = Tuple[str, str]


@dataclass
class _Way:
    """How it was tried last. ``instead``: what failed before it."""

    reached: bool
    when: str
    fallback: bool = False
    count: int = 1
    instead: tuple[_Key, ...] = ()


@dataclass(frozen=True)
class _Lost:
    """A server of a kind, of which every address failed; ``by``: those that were told."""

    kind: str
    by: tuple[_Key, ...]
    when: str

    @property
    def ends(self) -> tuple[str, ...]:
        """What ends it: an address that failed, or any server of its kind where none was told."""
        return tuple(server for server, _protocol in self.by) or (self.kind,)


@dataclass
class Reading:
    """The lines so far, one after another. ``ways``: the last word on each comes last. ``ends``: the lost servers that
    an address, or any server of a kind, ends once it is reached. ``running``: mounts that began and were neither ended
    nor given up; ``begun``, ``refused``: by whom."""

    lines: int = 0
    spoke: bool = False
    version: str = ""
    nics: str = ""
    running: int = 0
    begun: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    ways: dict[_Key, _Way] = field(default_factory=dict)
    lost: dict[str, _Lost] = field(default_factory=dict)
    ends: dict[str, dict[str, None]] = field(default_factory=dict)
    trying: dict[str, dict[_Key, None]] = field(default_factory=dict)
    said: dict[tuple[str, bool], dict[str, Problem]] = field(default_factory=dict)

    def take(self, message: str, speaker: str = "", when: str = "") -> None:
        """One message; ``speaker``: the thread, which tries one server after another."""
        self.lines += 1
        # A server's name or a path is whoever's; it goes to terminals and reports.
        message = escaped(message)
        if not (self._connection(message, speaker, when) or self._course(message, speaker)):
            for known, pattern in _MESSAGES:
                found = pattern.search(message)
                if found is not None:
                    what = printable(found.group(0), _LONGEST)
                    said = self.said.setdefault((known.cause, known.step), {})
                    count = said[what].count + 1 if what in said else 1
                    said[what] = Problem(known.cause, what, count, when)
                    if known.step and known.cause == data.MOUNT:
                        self._came_to_nothing(speaker)
                    return

    def take_kernel(self, text: str, seconds: float | None) -> None:
        """A message of the kernel's log that is BeeGFS' client's, with the seconds since the boot."""
        found = KERNEL.fullmatch(text)
        if found is not None:
            self.take(found.group(3), found.group(2) or "", "" if seconds is None else f"at {seconds:.0f} s")

    def _connection(self, message: str, speaker: str, when: str) -> bool:
        connected = _CONNECTED.search(message)
        found = connected or _FAILED.search(message)
        if found is not None:
            self.spoke = True
            kind, address, protocol = found.group(1), found.group(2), found.group(3)
            key = (f"{kind}@{address}", protocol)
            before = self.ways.pop(key, None)
            if connected is None:
                self.ways[key] = _Way(False, when, count=before.count + 1 if before else 1)
                tried = self.trying.setdefault(speaker, {})
                if len(tried) < _TRIED:
                    tried[key] = None
                return True
            instead = tuple(self.trying.pop(speaker, ()))
            self.ways[key] = _Way(True, when, connected.group(4) is not None, instead=instead)
            self._reached(key[0], kind)
            return True
        lost = _LOST.search(message)
        if lost is not None:
            self.spoke = True
            kind, name = lost.group(1), f"{lost.group(1)} {lost.group(2)}"
            self.lost[name] = _Lost(kind, tuple(self.trying.pop(speaker, ())), when)
            for end in self.lost[name].ends:
                self.ends.setdefault(end, {})[name] = None
        return lost is not None

    def _reached(self, server: str, kind: str) -> None:
        for end in (server, kind):
            for name in self.ends.pop(end, ()):
                # It may have been lost again by other addresses.
                if name in self.lost and end in self.lost[name].ends:
                    del self.lost[name]

    def _course(self, message: str, speaker: str) -> bool:
        """What begins and ends: a mount, a run of a daemon."""
        nics, version = _NICS.search(message), _VERSION.search(message)
        if data.BEGUN in message:
            self.running += 1
            self.begun.add(speaker)
            self.spoke = True
        if nics is not None:
            self.nics = nics.group(1).strip()
        elif version is not None:
            self.version = version.group(1)
        elif data.READY in message:
            self._forget(lambda cause: cause.mount)
        elif data.HEARD_AGAIN in message:
            self._forget(lambda cause: cause is data.CAUSES[data.HELPER])
        elif data.STOPPED in message:
            self._stopped(message, speaker)
        else:
            return False
        return True

    def _came_to_nothing(self, speaker: str) -> None:
        """A mount was given up, and the end that is told of it ends no other."""
        if speaker in self.begun:
            self.running -= 1
        self.begun.discard(speaker)
        self.refused.add(speaker)

    def _stopped(self, message: str, speaker: str) -> None:
        """What went before the end of the last mount that is told to have begun, or of a daemon, counts no more; what
        keeps from mounting does."""
        if speaker in self.refused:
            self.refused.discard(speaker)
            return
        last = self.running == 1 or data.EXITS in message
        self.running = max(0, self.running - 1)
        if last:
            self.nics = ""
            self.ways, self.lost, self.ends, self.trying = {}, {}, {}, {}
            self._forget(lambda cause: not cause.mount)

    def _forget(self, over: Callable[[data.Cause], bool]) -> None:
        self.said = {key: problems for key, problems in self.said.items() if not over(data.CAUSES[key[0]])}

    def result(self) -> BeegfsLog:
        """Everything, by its last words."""
        last = {server: protocol for server, protocol in self._last().items() if _is_of_data(server)}
        return BeegfsLog(
            self.lines,
            self.spoke,
            self.version,
            self.nics,
            tuple(server for server, protocol in last.items() if protocol == _RDMA),
            tuple(server for server, protocol in last.items() if protocol != _RDMA),
            tuple(self._problems()),
        )

    def _last(self) -> dict[str, str]:
        """The protocol by which each address was reached last."""
        return {server: protocol for (server, protocol), way in self.ways.items() if way.reached}

    def _problems(self) -> Iterator[Problem]:
        reasons = {cause for cause, step in self.said if not step}
        for (cause, step), problems in self.said.items():
            if not step or not reasons.intersection(data.FOLLOWS[cause]):
                yield from problems.values()
        told: set[_Key] = set()
        for name, lost in self.lost.items():
            told.update(lost.by)
            yield Problem(
                data.SERVER, name, 1, lost.when, tuple(dict.fromkeys(server for server, _protocol in lost.by))
            )
        last = self._last()
        for key, way in self.ways.items():
            server, protocol = key
            if not way.reached or last[server] != protocol:
                continue
            if way.fallback and not self._mended(way):
                told.update(way.instead)
                yield from self._another_way(key, way)
            elif not way.fallback and self._is_by_tcp(server, protocol):
                yield Problem(data.TCP, f"{server} by {protocol}", way.count, way.when, (server,))
        for key in reversed(self._failed_last()):
            if key not in told:
                (server, protocol), way = key, self.ways[key]
                cause = data.FALLBACK if protocol == _RDMA else data.SERVER
                yield Problem(cause, f"{server} by {protocol} failed", way.count, way.when, (server,))
        if self.nics and not self.has_rails:
            yield Problem(data.RAILS, printable(f"Usable NICs: {self.nics}", _LONGEST))

    @property
    def has_rails(self) -> bool:
        return "(RDMA)" in self.nics

    def _failed_last(self) -> list[_Key]:
        """What was not reached since it failed, the last first; an address that RDMA reached later needs no TCP."""
        reached: set[str] = set()
        found = []
        for (server, protocol), way in reversed(list(self.ways.items())):
            if way.reached:
                reached.add(server)
            elif protocol == _RDMA or server not in reached:
                found.append((server, protocol))
        return found

    def _another_way(self, key: _Key, way: _Way) -> Iterator[Problem]:
        """What took another way; the management server has no RDMA that could have failed."""
        server, protocol = key
        if _is_of_data(server):
            failed = tuple(dict.fromkeys(name for name, _protocol in way.instead))
            told = [tried if name == server else name for name, tried in way.instead]
            reason = f", for {few(list(dict.fromkeys(told)), _SHOWN)} failed" if told else ""
            yield Problem(data.FALLBACK, f"{server} by {protocol}{reason}", way.count, way.when, failed)

    def _is_by_tcp(self, server: str, protocol: str) -> bool:
        """Where it has no rail itself, that is told instead."""
        return protocol != _RDMA and _is_of_data(server) and (self.has_rails or not self.nics)

    def _mended(self, way: _Way) -> bool:
        """Whether all that failed before this way was reached later."""
        return bool(way.instead) and all(self.ways[key].reached for key in way.instead)


def _is_of_data(server: str) -> bool:
    return server.startswith(_OF_DATA)
