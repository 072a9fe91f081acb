# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the programs of perftest on this node: servers that take one client each, and questions.

Both ends are given the same options, as perftest needs it. They meet by TCP at a port of their own
and then measure over the RDMA port that they were named.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Callable

from ansible_collections.ibready.cluster.plugins.module_utils import _unit
from ansible_collections.ibready.cluster.plugins.module_utils._bench import gpudirect, unit
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Unavailable,
    find_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import (
    BANDWIDTH,
    PROGRAMS,
    WRITE_BW_GPU,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse import perftest
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

PREFIX = "ibready-perftest-"
# What meeting, registering memory and printing may take beside the measurement itself.
OVERHEAD_S = 15
# A forgotten server must not outlive a working day.
LEASE_MOST = 6 * 3600
_DEVICE = re.compile(r"\A[A-Za-z0-9_.-]{1,63}\Z")
_HOST = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}\Z")
# One queue pair alone does not fill a link of 400 Gb/s on every processor.
_BANDWIDTH = ("--report_gbits", "-q", "4", "-s", "1048576")
_LATENCY = ("-n", "1000")
# A server that finds no device, or its port in use, is gone by then.
_FIRST_S = 0.5


@dataclass(frozen=True)
class End:
    """One end of one measurement: the local RDMA port, which test, and the TCP port to meet at."""

    device: str
    port: int
    test: str
    tcp_port: int

    @property
    def unit(self) -> str:
        return f"{PREFIX}{self.tcp_port}.service"


def end(raw: dict[str, Any]) -> End:
    """Check one; raises ValueError, for its words go into argv and unit names."""
    if not _DEVICE.match(raw["device"]):
        raise ValueError(f"{raw['device']!r} is not an RDMA device name")
    if not 1 <= raw["port"] <= 254:
        raise ValueError(f"port {raw['port']} of {raw['device']} is not between 1 and 254")
    if not 1024 <= raw["tcp_port"] <= 65535:
        raise ValueError(f"TCP port {raw['tcp_port']} is not between 1024 and 65535")
    return End(raw["device"], raw["port"], raw["test"], raw["tcp_port"])


def address(text: str) -> str:
    """Check where the other end is; raises ValueError."""
    if not _HOST.match(text):
        raise ValueError(f"{text!r} is no address of a host")
    return text


def serve(
    run: _unit.Run,
    ends: list[End],
    seconds: int,
    lease: int,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[int, str]:
    """Start a server for each; returns why those that are gone already are, by TCP port."""
    _unit.stop(run, _unit.running(run, PREFIX))
    begun = time.time()
    failed: dict[int, str] = {}
    for one in ends:
        try:
            argv, env = _argv(run, one, seconds)
            unit.start(run, one.unit, argv, lease, env=env)
        except (Unavailable, _unit.UnitError) as exc:
            failed[one.tcp_port] = str(exc)
    sleep(_FIRST_S)
    for one in ends:
        if one.tcp_port not in failed and not _unit.active(run, one.unit):
            failed[one.tcp_port] = complaint(unit.log(run, one.unit, begun), PROGRAMS[one.test])
    return failed


def ask(run: _unit.Run, one: End, server: str, seconds: int) -> dict[str, Any]:
    """Measure against ``server``. ``untested``: why there are no numbers, or ""."""
    limit = limit_of(one.test, seconds)
    name = f"{PREFIX}ask-{one.tcp_port}.service"
    try:
        argv, env = _argv(run, one, seconds)
        ended = unit.wait(run, name, [*argv, server], limit, env=env)
    except (Unavailable, _unit.UnitError) as exc:
        return {"untested": str(exc)}
    try:
        parsed = perftest.parse(ended.stdout)
    except ParseError as exc:
        said = ended.why(limit) if ended.result == "timeout" else ""
        text = "\n".join((ended.stdout, ended.stderr))
        return {"untested": said or complaint(text, PROGRAMS[one.test], str(exc))}
    if ended.result != "success":
        return {"untested": f"{PROGRAMS[one.test]}: {ended.why(limit)}"}
    return _numbers(one.test, parsed)


def limit_of(test: str, seconds: int) -> int:
    """Seconds after which one measurement is ended."""
    return OVERHEAD_S + (seconds if test in BANDWIDTH else 0)


def complaint(text: str, program: str, otherwise: str = "") -> str:
    """What a program of perftest said of its failure, in one line."""
    said = otherwise
    try:
        perftest.parse(text)
        said = said or "it ended before it was asked"
    except ParseError as exc:
        if exc.line and exc.reason == perftest.NO_TABLE:
            said = exc.line
        said = said or (str(exc) if exc.line else "it ended and said nothing")
    return f"{program}: {said}"


def _argv(run: _unit.Run, one: End, seconds: int) -> tuple[list[str], dict[str, str]]:
    path = find_program(PROGRAMS[one.test])
    argv = [path, "-d", one.device, "-i", str(one.port), "-p", str(one.tcp_port), "-F"]
    argv += [*_BANDWIDTH, "-D", str(seconds)] if one.test in BANDWIDTH else [*_LATENCY]
    if one.test != WRITE_BW_GPU:
        return argv, {}
    more, env = gpudirect.options(run, path, one.device)
    return [*argv, *more], env


def _numbers(test: str, parsed: perftest.Perftest) -> dict[str, Any]:
    if test in BANDWIDTH and parsed.bandwidth:
        return {"untested": "", "gbps": round(parsed.bandwidth[-1].gbps, 3)}
    if test not in BANDWIDTH and parsed.latency:
        one = parsed.latency[-1]
        return {"untested": "", "usec": one.typical, "p99_usec": one.p99}
    return {"untested": f"{PROGRAMS[test]} printed the table of another test"}
