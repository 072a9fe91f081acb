# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``systemctl status nvidia-fabricmanager``, and ``nv-fabricmanager --version``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines

_TOOL = "fabricmanager_status"
NOTHING: dict[str, Any] = {}
RUNNING = "active (running)"
MISMATCH = "version mismatch"
NOTHING_TO_DO = "NV_WARN_NOTHING_TO_DO"

_NUMBER = r"([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})"
_MISMATCH = re.compile(r"\bversion " + _NUMBER + r" do\S{0,6}(?: not)? match (?:with )?driver version " + _NUMBER)
_VERSION = re.compile(r"Fabric Manager version is ?: ?" + _NUMBER)
_PAGER = re.compile(r"lines [0-9]{1,6}-[0-9]{1,6}(?:/[0-9]{1,6})?(?: \(END\))?|\(END\)")
# Tree characters of the group's processes, in any locale; then the process id.
_PROCESS = re.compile(r"[\u2500-\u257f|`-]{1,4} ?([0-9]{1,10}) (.{1,300})")
_DAEMON = re.compile(r"\bnv-fabricmanager(?:\[[0-9]{1,10}\])?: (.{1,300})")
# Where the heads of syslog were taken off, the line begins with systemd's word.
_SYSTEMD = r"(?:\bsystemd\[[0-9]{1,10}\]: |^)"
_UNHAPPY = re.compile(r"error|fail|abort|match|not |unable|invalid", re.IGNORECASE)
_NOT_FOUND = re.compile(r"\bnvidia-fabricmanager\S{0,10} could not be found|Loaded: not-found")
_NO_SYSTEMD = ("System has not been booted with systemd", "Failed to connect to bus")
_STARTED = re.compile(_SYSTEMD + r"Started .{0,60}fabric ?manager", re.IGNORECASE)
_STOPPED = re.compile(_SYSTEMD + r"Stopp(?:ing|ed) .{0,60}fabric ?manager", re.IGNORECASE)
# What systemctl says itself, where it started the service and waited.
_JOB = re.compile(
    r"(?:Job for|A dependency job for|Assertion failed on job for) nvidia-fabricmanager\S{0,10}"
    r"(?: failed| timed out| canceled|\.)"
)
_FAILED = ("Failed with result", "status=1/FAILURE", "Failed to start", "Start request repeated")


@dataclass(frozen=True)
class FmStatus:
    """What is known of the service; None or "" where the text does not say.

    ``state``: as systemd words it, ``active (running)``. ``boot``: enabled, disabled, masked...
    ``reason``: why it does not run, where one of the known ones was told; ``said``: the daemon's
    last unhappy words. ``fm`` and ``driver``: the two versions that do not match. ``version``: what
    the daemon says of itself. ``processes``: the command lines of the service.
    """

    active: bool | None = None
    state: str = ""
    boot: str = ""
    missing: bool = False
    reason: str = ""
    said: str = ""
    fm: str = ""
    driver: str = ""
    version: str = ""
    processes: tuple[str, ...] = ()
    pager_tail: bool = False


class _Reader:
    def __init__(self) -> None:
        self.state = ""
        self.boot = ""
        self.missing = False
        self.mismatch: tuple[str, str] | None = None
        self.nothing_to_do = False
        self.failed = False
        self.started = False
        self.said = ""
        self.version = ""
        self.processes: list[str] = []
        self.pager_tail = False

    def take(self, line: str) -> None:
        key, colon, value = line.partition(": ")
        if colon and key == "Active":
            self.state = value.partition(" since ")[0].partition(";")[0].strip()
        elif colon and key == "Loaded":
            self._loaded(value)
        if _NOT_FOUND.search(line) is not None:
            self.missing = True
        version = _VERSION.search(line)
        if version is not None:
            self.version = version.group(1)
        if _PAGER.fullmatch(line) is not None:
            self.pager_tail = True
        process = _PROCESS.fullmatch(line)
        if process is not None:
            self.processes.append(process.group(2))
        self._journal(line)

    def _loaded(self, value: str) -> None:
        words = value.split(";")
        if value.startswith("masked"):
            self.boot = "masked"
        elif value.startswith("not-found"):
            self.missing = True
        elif len(words) > 1:
            self.boot = words[1].strip().rstrip(")")

    def _journal(self, line: str) -> None:
        mismatch = _MISMATCH.search(line)
        if mismatch is not None:
            self.mismatch = (mismatch.group(1), mismatch.group(2))
        self.nothing_to_do = self.nothing_to_do or NOTHING_TO_DO in line
        if _STARTED.search(line) is not None:
            self.started = True
            self.failed = self.nothing_to_do = False
            self.mismatch = None
        elif (
            _JOB.match(line)
            or any(words in line for words in _FAILED)
            or (self.started and _STOPPED.search(line) is not None)
        ):
            self.started, self.failed = False, True
        daemon = _DAEMON.search(line)
        if daemon is not None and _UNHAPPY.search(daemon.group(1)) is not None:
            self.said = daemon.group(1)

    def result(self) -> FmStatus | None:
        active: bool | None = None
        if self.state:
            active = self.state == RUNNING
        elif self.missing or self.mismatch or self.nothing_to_do or self.failed:
            active = False
        elif self.started:
            active = True
        if active is None and not self.version:
            return None
        # What the journal holds of an earlier start says nothing of a service that runs now.
        reason = ""
        if not active and self.mismatch is not None:
            reason = MISMATCH
        elif not active and self.nothing_to_do:
            reason = NOTHING_TO_DO
        fm, driver = self.mismatch if reason == MISMATCH and self.mismatch else ("", "")
        return FmStatus(
            active=active,
            state=self.state,
            boot=self.boot,
            missing=self.missing,
            reason=reason,
            said="" if active else self.said,
            fm=fm,
            driver=driver,
            version=self.version,
            processes=tuple(self.processes),
            pager_tail=self.pager_tail,
        )


def parse(text: str) -> FmStatus:
    """Read the status; raise ParseError where it tells neither a state nor a version."""
    lines = flat_lines(text)
    if not any(lines):
        raise ParseError(_TOOL, 0, "", "empty output")
    reader = _Reader()
    for line in lines:
        if line:
            reader.take(line)
    found = reader.result()
    if found is not None:
        return found
    said = tuple(line for line in lines if line.startswith(_NO_SYSTEMD))
    wanted = said[0] if said else next(line for line in lines if line)
    raise ParseError(_TOOL, lines.index(wanted) + 1, wanted, "neither a state nor a version", said)


def facts(parsed: FmStatus) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {}
    if parsed.active is not None:
        found["active"] = parsed.active
    for name in ("state", "boot", "reason", "fm", "driver", "version"):
        if getattr(parsed, name):
            found[name] = getattr(parsed, name)
    if parsed.processes:
        found["processes"] = list(parsed.processes)
    if parsed.missing:
        found["missing"] = True
    if parsed.pager_tail:
        found["pager_tail"] = True
    return found
