# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BeeGFS log tells by its last words: who was reached how, and what went wrong and was not mended since."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterable, Iterator

from .._data import beegfs_log as data

# What is spoken to by RDMA; the management server only ever is by TCP.
_OF_DATA = ("beegfs-meta", "beegfs-storage")
_RDMA = "RDMA"
_LONGEST = 200
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
    """``cause``: a key of CAUSES. ``what``: the log's words, or the server. ``when``: last, as the log has it."""

    cause: str
    what: str
    count: int = 1
    when: str = ""


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


@dataclass
class _Way:
    """How a server's address was tried last. ``instead``: what failed before it."""

    protocol: str
    reached: bool
    when: str
    fallback: bool = False
    count: int = 1
    instead: tuple[str, ...] = ()


@dataclass
class Reading:
    """The lines so far, one after another."""

    lines: int = 0
    spoke: bool = False
    version: str = ""
    nics: str = ""
    running: int = 0
    ways: dict[str, _Way] = field(default_factory=dict)
    lost: dict[str, tuple[str, tuple[str, ...], str]] = field(default_factory=dict)
    trying: dict[str, list[str]] = field(default_factory=dict)
    said: dict[tuple[str, str, bool], Problem] = field(default_factory=dict)

    def take(self, message: str, speaker: str = "", when: str = "") -> None:
        """One message; ``speaker``: the thread, which tries one server after another."""
        self.lines += 1
        if not (self._connection(message, speaker, when) or self._course(message)):
            for known, pattern in _MESSAGES:
                found = pattern.search(message)
                if found is not None:
                    what = found.group(0)[:_LONGEST]
                    before = self.said.get((known.cause, what, known.step))
                    count = before.count + 1 if before else 1
                    self.said[(known.cause, what, known.step)] = Problem(known.cause, what, count, when)
                    return

    def take_kernel(self, text: str, seconds: float | None) -> None:
        """A message of the kernel's log that is BeeGFS' client's, with the seconds since the boot."""
        found = KERNEL.fullmatch(text)
        if found is not None:
            self.take(found.group(3), found.group(2) or "", "" if seconds is None else f"at {seconds:.0f} s")

    def _connection(self, message: str, speaker: str, when: str) -> bool:
        connected = _CONNECTED.search(message)
        failed = _FAILED.search(message) if connected is None else None
        found = connected or failed
        if found is not None:
            self.spoke = True
            kind, address, protocol = found.group(1), found.group(2), found.group(3)
            server = f"{kind}@{address}"
            if connected is None:
                before = self.ways.get(server)
                self.ways[server] = _Way(protocol, False, when, count=before.count + 1 if before else 1)
                self.trying.setdefault(speaker, []).append(server)
                return True
            instead = tuple(self.trying.pop(speaker, ()))
            self.ways[server] = _Way(protocol, True, when, connected.group(4) is not None, instead=instead)
            self.lost = {
                name: (of, by, at)
                for name, (of, by, at) in self.lost.items()
                if server not in by and (by or of != kind)
            }
            return True
        lost = _LOST.search(message)
        if lost is not None:
            self.spoke = True
            self.lost[f"{lost.group(1)} {lost.group(2)}"] = (lost.group(1), tuple(self.trying.pop(speaker, ())), when)
        return lost is not None

    def _course(self, message: str) -> bool:
        """What begins and ends: a mount, a run of a daemon."""
        nics, version = _NICS.search(message), _VERSION.search(message)
        if data.BEGUN in message:
            self.running += 1
            self.spoke = True
        if nics is not None:
            self.nics = nics.group(1).strip()
        elif version is not None:
            self.version = version.group(1)
        elif data.READY in message:
            self.said = {key: problem for key, problem in self.said.items() if not data.CAUSES[problem.cause].mount}
        elif data.HEARD_AGAIN in message:
            self.said = {key: problem for key, problem in self.said.items() if problem.cause != data.HELPER}
        elif data.STOPPED in message:
            self.running = max(0, self.running - 1)
            if not self.running:
                # Another mount may be on: what went before counts only without one.
                self.nics = ""
                self.ways, self.lost, self.trying = {}, {}, {}
        else:
            return False
        return True

    def result(self) -> BeegfsLog:
        """Everything, by its last words."""
        reached = [(server, way) for server, way in self.ways.items() if way.reached and _is_of_data(server)]
        return BeegfsLog(
            self.lines,
            self.spoke,
            self.version,
            self.nics,
            tuple(server for server, way in reached if way.protocol == _RDMA),
            tuple(server for server, way in reached if way.protocol != _RDMA),
            tuple(self._problems()),
        )

    def _problems(self) -> Iterator[Problem]:
        reasons = [problem for (_cause, _what, step), problem in self.said.items() if not step]
        yield from reasons
        causes = {problem.cause for problem in reasons}
        for (cause, _what, step), problem in self.said.items():
            if step and not causes.intersection(data.FOLLOWS[cause]):
                yield problem
        told: set[str] = set()
        for name, (_kind, by, when) in self.lost.items():
            told.update(by)
            yield Problem(data.SERVER, name, 1, when)
        for server, way in self.ways.items():
            if way.reached and way.fallback and not self._mended(way):
                told.update(way.instead)
                failed = f", for {', '.join(way.instead)} failed" if way.instead else ""
                yield Problem(data.FALLBACK, f"{server} by {way.protocol}{failed}", way.count, way.when)
            elif way.reached and not way.fallback and self._is_by_tcp(server, way):
                yield Problem(data.TCP, f"{server} by {way.protocol}", way.count, way.when)
        for server, way in self.ways.items():
            if not way.reached and server not in told:
                cause = data.FALLBACK if way.protocol == _RDMA else data.SERVER
                yield Problem(cause, f"{server} by {way.protocol} failed", way.count, way.when)
        if self.nics and not self.has_rails:
            yield Problem(data.RAILS, f"Usable NICs: {self.nics}"[:_LONGEST])

    @property
    def has_rails(self) -> bool:
        return "(RDMA)" in self.nics

    def _is_by_tcp(self, server: str, way: _Way) -> bool:
        """Where it has no rail itself, that is told instead."""
        return way.protocol != _RDMA and _is_of_data(server) and (self.has_rails or not self.nics)

    def _mended(self, way: _Way) -> bool:
        """Whether all that failed before this way was reached later."""
        return bool(way.instead) and all(self.ways[server].reached for server in way.instead)


def _is_of_data(server: str) -> bool:
    return server.startswith(_OF_DATA)
